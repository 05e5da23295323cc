// Package rehearse runs programs without any effect outside. Test runs the tests of a
// source, where stubs replace the commands that reach outside. Stage.Try runs a draft on
// past events, with recordings of the outside calls, and compares the outcomes.
//
// A rehearsal is a run of package pipeline/run with another Environment. The
// commands pipeline.test and pipeline.try, and how many rehearsals a user has at
// the same time, are in package pipeline.
package rehearse
