// Package serve joins the packages to one running service: settings in, a
// server with its engine out (wiring.go makes the parts, commands.go lists
// their commands). The command line, the benchmarks and the torture tests all
// start it through Start, so what they measure is what is shipped.
package serve
