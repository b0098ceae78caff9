#include "textflag.h"

// func prefetchLines(first *byte, lines int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), AX
	MOVQ lines+8(FP), CX

next:
	TESTQ CX, CX
	JLE   done
	PREFETCHT0 (AX)
	ADDQ  $64, AX
	DECQ  CX
	JMP   next

done:
	RET
