// What scans of pages share: registers, the walk of the page table, prefetching.
//
// Registers:
//	AX query   BX keys   SI page table, advanced   CX pages left   R8 bytes of a page   R9 pages to prefetch ahead
//	DX the row group   R11 the row group to prefetch   R10 bytes left in the page   DI output, advanced

// PAGE points DX at the page that SI stands at, and R11 at the one that is R9 places later in the table, or at the
// same page where the table ends before that.
#define PAGE \
	XORQ R12, R12; \
	CMPQ CX, R9; \
	CMOVQGT R9, R12; \
	MOVLQSX (SI)(R12*4), R11; \
	IMULQ R8, R11; \
	ADDQ BX, R11; \
	MOVLQSX (SI), DX; \
	IMULQ R8, DX; \
	ADDQ BX, DX; \
	MOVQ R8, R10

// FETCH asks for one row of the page to come, FETCH16 for sixteen. Into the second-level cache: it keeps more misses in
// flight than the first, which made a scan a tenth faster where this was tried.
#define FETCH(row) \
	PREFETCHT1 (row*128)(R11); \
	PREFETCHT1 (row*128+64)(R11)

#define FETCH16 \
	FETCH(0); FETCH(1); FETCH(2); FETCH(3); \
	FETCH(4); FETCH(5); FETCH(6); FETCH(7); \
	FETCH(8); FETCH(9); FETCH(10); FETCH(11); \
	FETCH(12); FETCH(13); FETCH(14); FETCH(15)
