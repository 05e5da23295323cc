// Package damage reads the files of the embedded engine without the engine, to
// find what a disk has lost: records that can't be read (block.go, store.go),
// states of consumers (consumer.go), and files that are not as a clean stop has
// left them (stop.go). What the engine would cut off at its start is set aside
// and cut out more carefully (contain.go).
//
// It knows the layout of the engine's store and nothing of what events or records
// mean: package jetstream compares what is left with what there was.
package damage
