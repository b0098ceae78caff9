// AVX2 kernels, written by hand with macros. See the Go declarations in kernel_amd64.go for what they compute.
//
// Keys and query are widened to 16 bits, so that VPMADDWD's pairs of products cannot saturate. The query fills
// Y8 to Y15. Y0 to Y3 gather four rows, Y4 to Y7 are scratch. See pages_amd64.h for the other registers.

#include "textflag.h"
#include "pages_amd64.h"

#define QUERY \
	VPMOVSXBW (AX), Y8; \
	VPMOVSXBW 16(AX), Y9; \
	VPMOVSXBW 32(AX), Y10; \
	VPMOVSXBW 48(AX), Y11; \
	VPMOVSXBW 64(AX), Y12; \
	VPMOVSXBW 80(AX), Y13; \
	VPMOVSXBW 96(AX), Y14; \
	VPMOVSXBW 112(AX), Y15

// ROW leaves the inner product of one row, spread over eight lanes, in sum.
#define ROW(row, sum) \
	VPMOVSXBW (row*128)(DX), Y4; \
	VPMOVSXBW (row*128+16)(DX), Y5; \
	VPMOVSXBW (row*128+32)(DX), Y6; \
	VPMOVSXBW (row*128+48)(DX), Y7; \
	VPMADDWD Y4, Y8, sum; \
	VPMADDWD Y5, Y9, Y5; \
	VPMADDWD Y6, Y10, Y6; \
	VPMADDWD Y7, Y11, Y7; \
	VPADDD Y5, sum, sum; \
	VPADDD Y6, Y7, Y7; \
	VPADDD Y7, sum, sum; \
	VPMOVSXBW (row*128+64)(DX), Y4; \
	VPMOVSXBW (row*128+80)(DX), Y5; \
	VPMOVSXBW (row*128+96)(DX), Y6; \
	VPMOVSXBW (row*128+112)(DX), Y7; \
	VPMADDWD Y4, Y12, Y4; \
	VPMADDWD Y5, Y13, Y5; \
	VPMADDWD Y6, Y14, Y6; \
	VPMADDWD Y7, Y15, Y7; \
	VPADDD Y4, Y5, Y5; \
	VPADDD Y6, Y7, Y7; \
	VPADDD Y5, sum, sum; \
	VPADDD Y7, sum, sum

// FOUR leaves the inner products of the four rows at DX in X0, in the order of the rows.
#define FOUR \
	ROW(0, Y0); \
	ROW(1, Y1); \
	ROW(2, Y2); \
	ROW(3, Y3); \
	VPHADDD Y1, Y0, Y0; \
	VPHADDD Y3, Y2, Y2; \
	VPHADDD Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0

// func pageMaximaAVX2(query *Row, keys *byte, pages *wire.Page, count, pageBytes, ahead int, maxima *int32)
TEXT ·pageMaximaAVX2(SB), NOSPLIT, $16-56
	MOVQ query+0(FP), AX
	MOVQ keys+8(FP), BX
	MOVQ pages+16(FP), SI
	MOVQ count+24(FP), CX
	MOVQ pageBytes+32(FP), R8
	MOVQ ahead+40(FP), R9
	MOVQ maxima+48(FP), DI
	QUERY

page:
	PAGE

	// The page's maximum lives in memory, for all sixteen registers are taken.
	VPCMPEQD X0, X0, X0
	VPSLLD $31, X0, X0
	VMOVDQU X0, maximum-16(SP)

four:
	FETCH(0)
	FETCH(1)
	FETCH(2)
	FETCH(3)
	FOUR
	VPMAXSD maximum-16(SP), X0, X0
	VMOVDQU X0, maximum-16(SP)
	ADDQ $512, DX
	ADDQ $512, R11
	SUBQ $512, R10
	JNZ four

	VPSHUFD $0x4e, X0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPMAXSD X1, X0, X0
	VMOVD X0, (DI)
	ADDQ $4, SI
	ADDQ $4, DI
	DECQ CX
	JNZ page
	VZEROUPPER
	RET

// func scoresAVX2(query *Row, rows *byte, groups int, scores *int32)
TEXT ·scoresAVX2(SB), NOSPLIT, $0-32
	MOVQ query+0(FP), AX
	MOVQ rows+8(FP), DX
	MOVQ groups+16(FP), CX
	MOVQ scores+24(FP), DI
	SHLQ $2, CX
	QUERY

four:
	FOUR
	VMOVDQU X0, (DI)
	ADDQ $512, DX
	ADDQ $16, DI
	DECQ CX
	JNZ four
	VZEROUPPER
	RET
