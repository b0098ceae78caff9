// Kernels that only load or only store pages, with AVX-512. See the Go declarations in limit_amd64.go, and
// pages_amd64.h for the registers.

#include "textflag.h"
#include "pages_amd64.h"

// TAKE reads one row and does next to nothing with it.
#define TAKE(row) \
	VPORD (row*128)(DX), Z0, Z0; \
	VPORD (row*128+64)(DX), Z1, Z1

// func loadAVX512(keys *byte, pages *wire.Page, count, pageBytes, ahead int) uint64
TEXT ·loadAVX512(SB), NOSPLIT, $0-48
	MOVQ keys+0(FP), BX
	MOVQ pages+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ pageBytes+24(FP), R8
	MOVQ ahead+32(FP), R9
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1

page:
	PAGE

group:
	FETCH16
	TAKE(0)
	TAKE(1)
	TAKE(2)
	TAKE(3)
	TAKE(4)
	TAKE(5)
	TAKE(6)
	TAKE(7)
	TAKE(8)
	TAKE(9)
	TAKE(10)
	TAKE(11)
	TAKE(12)
	TAKE(13)
	TAKE(14)
	TAKE(15)
	ADDQ $2048, DX
	ADDQ $2048, R11
	SUBQ $2048, R10
	JNZ group
	ADDQ $4, SI
	DECQ CX
	JNZ page

	VPORD Z0, Z1, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPOR Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPOR X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPOR X1, X0, X0
	VMOVQ X0, AX
	MOVQ AX, ret+40(FP)
	VZEROUPPER
	RET

// func storeAVX512(keys *byte, pages *wire.Page, count, pageBytes int)
TEXT ·storeAVX512(SB), NOSPLIT, $0-32
	MOVQ keys+0(FP), BX
	MOVQ pages+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ pageBytes+24(FP), R8
	MOVL $0x01010101, R13
	VPBROADCASTD R13, Z0

page:
	MOVLQSX (SI), DX
	IMULQ R8, DX
	ADDQ BX, DX
	MOVQ R8, R10

group:
	VMOVDQU32 Z0, (DX)
	VMOVDQU32 Z0, 64(DX)
	VMOVDQU32 Z0, 128(DX)
	VMOVDQU32 Z0, 192(DX)
	ADDQ $256, DX
	SUBQ $256, R10
	JNZ group
	ADDQ $4, SI
	DECQ CX
	JNZ page
	VZEROUPPER
	RET

// func streamAVX512(keys *byte, pages *wire.Page, count, pageBytes int)
TEXT ·streamAVX512(SB), NOSPLIT, $0-32
	MOVQ keys+0(FP), BX
	MOVQ pages+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ pageBytes+24(FP), R8
	MOVL $0x01010101, R13
	VPBROADCASTD R13, Z0

page:
	MOVLQSX (SI), DX
	IMULQ R8, DX
	ADDQ BX, DX
	MOVQ R8, R10

group:
	VMOVNTDQ Z0, (DX)
	VMOVNTDQ Z0, 64(DX)
	VMOVNTDQ Z0, 128(DX)
	VMOVNTDQ Z0, 192(DX)
	ADDQ $256, DX
	SUBQ $256, R10
	JNZ group
	ADDQ $4, SI
	DECQ CX
	JNZ page
	SFENCE
	VZEROUPPER
	RET
