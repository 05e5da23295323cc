package api

import "sluice"

// refuseDraining refuses calls while the server stops.
func (a *API) refuseDraining() error {
	if !a.draining() {
		return nil
	}
	return Draining()
}

// draining reports whether the server stops.
func (a *API) draining() bool {
	select {
	case <-a.Stopping:
		return true
	default:
		return false
	}
}

// Draining is what is answered while the server drains: 503 with Retry-After,
// and the connection is closed.
func Draining() error {
	return busy(sluice.CodeDraining, "The server is stopping.").Closing()
}

// Interrupt ends the commands that are running: those that can end early tell
// their callers that the server stops.
func (a *API) Interrupt() { a.interrupt(Draining()) }
