// Package render turns results into text for people and into JUnit XML for machines. Each function's output follows
// from its arguments alone, except that colours are used only on a terminal, and never when NO_COLOR is set.
//
//	Report    one run's judgement: verdict, requests by outcome, each check, its findings, what was not checked
//	Variants  one line a variant of an incident
//	Timeline  who owned the pages of one request around one finding
//	JUnit     the same judgements as CI reads them
//
// What a target said may stand in any text here: whatever could steer a terminal is spelled out as an escape.
package render
