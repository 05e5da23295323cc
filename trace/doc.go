// Package trace has the command that finds calls again. How calls are kept and
// looked up is the jetstream room's; the live tail is an endpoint of the api
// room.
package trace
