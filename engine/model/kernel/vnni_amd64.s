// AVX512-VNNI kernels, written by hand with macros. See the Go declarations in kernel_amd64.go for what they compute,
// and pages_amd64.h for the registers.

#include "textflag.h"
#include "pages_amd64.h"

// QUERY loads the query (Z29, Z30), the sign bits (Z31), and minus 128 times the query in Z28. VPDPBUSD wants one
// operand unsigned, so keys have their sign bit flipped, which adds 128 to them: sums start at Z28 to make up for it.
#define QUERY \
	VMOVDQU32 (AX), Z29; \
	VMOVDQU32 64(AX), Z30; \
	MOVL $0x80808080, R13; \
	VPBROADCASTD R13, Z31; \
	VPXORD Z27, Z27, Z27; \
	VPXORD Z28, Z28, Z28; \
	VPDPBUSD Z29, Z31, Z28; \
	VPDPBUSD Z30, Z31, Z28; \
	VPSUBD Z28, Z27, Z28

// ROW leaves the inner product of one row, spread over sixteen lanes, in sum.
#define ROW(row, low, high, sum) \
	VPXORD (row*128)(DX), Z31, low; \
	VPXORD (row*128+64)(DX), Z31, high; \
	VMOVDQA32 Z28, sum; \
	VPDPBUSD Z29, low, sum; \
	VPDPBUSD Z30, high, sum

// ROWS is ROW for the sixteen rows of a group, in Z0 to Z15.
#define ROWS \
	ROW(0, Z16, Z17, Z0); \
	ROW(1, Z18, Z19, Z1); \
	ROW(2, Z20, Z21, Z2); \
	ROW(3, Z22, Z23, Z3); \
	ROW(4, Z16, Z17, Z4); \
	ROW(5, Z18, Z19, Z5); \
	ROW(6, Z20, Z21, Z6); \
	ROW(7, Z22, Z23, Z7); \
	ROW(8, Z16, Z17, Z8); \
	ROW(9, Z18, Z19, Z9); \
	ROW(10, Z20, Z21, Z10); \
	ROW(11, Z22, Z23, Z11); \
	ROW(12, Z16, Z17, Z12); \
	ROW(13, Z18, Z19, Z13); \
	ROW(14, Z20, Z21, Z14); \
	ROW(15, Z22, Z23, Z15)

// FOLD adds halves of the lanes of a and b into a: after four steps sixteen registers of sixteen lanes are one register
// of sixteen sums, in the order of the rows.
#define FOLD32(a, b) \
	VPUNPCKLDQ b, a, Z16; \
	VPUNPCKHDQ b, a, Z17; \
	VPADDD Z16, Z17, a

#define FOLD64(a, b) \
	VPUNPCKLQDQ b, a, Z16; \
	VPUNPCKHQDQ b, a, Z17; \
	VPADDD Z16, Z17, a

#define FOLD128(a, b) \
	VSHUFI32X4 $0x88, b, a, Z16; \
	VSHUFI32X4 $0xdd, b, a, Z17; \
	VPADDD Z16, Z17, a

#define FOLDS \
	FOLD32(Z0, Z1); \
	FOLD32(Z2, Z3); \
	FOLD32(Z4, Z5); \
	FOLD32(Z6, Z7); \
	FOLD32(Z8, Z9); \
	FOLD32(Z10, Z11); \
	FOLD32(Z12, Z13); \
	FOLD32(Z14, Z15); \
	FOLD64(Z0, Z2); \
	FOLD64(Z4, Z6); \
	FOLD64(Z8, Z10); \
	FOLD64(Z12, Z14); \
	FOLD128(Z0, Z4); \
	FOLD128(Z8, Z12); \
	FOLD128(Z0, Z8)

// func pageMaximaVNNI(query *Row, keys *byte, pages *wire.Page, count, pageBytes, ahead int, maxima *int32)
TEXT ·pageMaximaVNNI(SB), NOSPLIT, $0-56
	MOVQ query+0(FP), AX
	MOVQ keys+8(FP), BX
	MOVQ pages+16(FP), SI
	MOVQ count+24(FP), CX
	MOVQ pageBytes+32(FP), R8
	MOVQ ahead+40(FP), R9
	MOVQ maxima+48(FP), DI
	QUERY
	MOVL $0x80000000, R13
	VPBROADCASTD R13, Z26

page:
	PAGE
	VMOVDQA32 Z26, Z27

group:
	FETCH16
	ROWS
	FOLDS
	VPMAXSD Z0, Z27, Z27
	ADDQ $2048, DX
	ADDQ $2048, R11
	SUBQ $2048, R10
	JNZ group

	VEXTRACTI64X4 $1, Z27, Y1
	VPMAXSD Y1, Y27, Y1
	VEXTRACTI128 $1, Y1, X2
	VPMAXSD X2, X1, X1
	VPSHUFD $0x4e, X1, X2
	VPMAXSD X2, X1, X1
	VPSHUFD $0xb1, X1, X2
	VPMAXSD X2, X1, X1
	VMOVD X1, (DI)
	ADDQ $4, SI
	ADDQ $4, DI
	DECQ CX
	JNZ page
	VZEROUPPER
	RET

// func scoresVNNI(query *Row, rows *byte, groups int, scores *int32)
TEXT ·scoresVNNI(SB), NOSPLIT, $0-32
	MOVQ query+0(FP), AX
	MOVQ rows+8(FP), DX
	MOVQ groups+16(FP), CX
	MOVQ scores+24(FP), DI
	QUERY

group:
	ROWS
	FOLDS
	VMOVDQU32 Z0, (DI)
	ADDQ $2048, DX
	ADDQ $64, DI
	DECQ CX
	JNZ group
	VZEROUPPER
	RET
