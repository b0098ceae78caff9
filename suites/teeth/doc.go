// Package teeth proves that what judges can bite: each check is red on one planted corruption and silent on a clean run,
// each fault has an undefended cell that is red and is quiet when it is aimed at nobody, and a journal alone, read by a
// fresh process, names every owner that the run itself named. It is specs only; the rows are the documentation.
//
//	checks_test.go    one corruption at a time in the events of a real run, as small as it can be made
//	coverage_test.go  a page overwritten after its Done, two pages swapped: guard and check see both, by the bytes
//	faults_test.go    each fault of the catalogue at its target, and aimed at nobody; its rows are in cells_test.go
//	alone_test.go     the built command on the journal alone; owners are derived, never read
//	unknown_test.go   what proves nothing is unknown: never pass
//
// A check or a fault without a row fails the suite before anything runs: the rows are looked up by the names that
// check.Checks and faults.Catalog give.
package teeth
