// Package rehearse runs programs without doing anything outside. Test runs the
// tests that a source carries, in which stubs stand for the commands that reach
// outside. Stage.Try runs a draft on past events, with what outside calls returned
// then, and compares what it would make of them with what was made of them.
//
// A rehearsal is a run of package pipeline/run with another Environment. The
// commands pipeline.test and pipeline.try, and how many rehearsals a user has at
// the same time, are in package pipeline.
package rehearse
