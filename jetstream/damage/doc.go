// Package damage reads the files of the embedded engine without the engine, to
// find what a disk has lost: records that can't be read (block.go, store.go),
// states of consumers, and files that have changed since a clean stop
// (stop.go). The engine would cut off too much at its start, so the damage is set
// aside and cut out more carefully (contain.go).
//
// It knows the layout of the engine's store, but not what events or records mean:
// package jetstream compares what is left with what there was.
package damage
