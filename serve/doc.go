// Package serve joins the rooms to one running service: settings in, a server
// with its engine out. The command line, the benchmarks and the torture tests
// all start it through Start, so what they measure is what is shipped.
package serve
