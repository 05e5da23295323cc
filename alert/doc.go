// Package alert tells people what they should know, wherever they are: conditions of the
// server become alerts, which are raised, resolved, kept, and sent as events that pipelines
// listen to. alert.get shows them, and alert.mute keeps one quiet.
//
// The facts come from packages jetstream, metrics and quarantine; package serve gathers
// them. How a message leaves the house is the pipelines' business.
package alert
