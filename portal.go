package sluice

import "time"

// A PortalSession is a person who is signed in to the portal, in one browser.
type PortalSession struct {
	ID       string    `json:"id"` // SHA-256 of what the browser's cookie holds
	Username string    `json:"username"`
	Outside  bool      `json:"outside,omitempty"` // an external provider says who it is
	Roles    []string  `json:"roles,omitempty"`   // as that provider said at the sign-in
	Created  time.Time `json:"created"`
	Seen     time.Time `json:"seen"` // about when it was last used
}
