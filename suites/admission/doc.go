// Package admission proves who is let in: at each role's limit, one token below and above it, at its pool's size and one
// token above, at its context's and one above, on pools that are equal and unequal, page-aligned and not, with every guard
// and with none, and with one worker in place of two. It is specs only.
//
//	limits_test.go     outcome and reason of each prompt length, derived from the limits before any run
//	truncate_test.go   allow_auto_truncate on each role: a shortened prompt is never a correct answer
//	badinput_test.go   what no run can be made of: each a clear error, and nothing lost
package admission
