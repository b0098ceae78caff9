// Package matchers are thin gomega shells over reports: what they say when they fail is what the checks say. Each takes a
// *check.Report, or what holds one. Only specs import it.
package matchers
