package sluice

import "time"

// A PortalSession is a person who is signed in to the portal, in one browser.
type PortalSession struct {
	ID       string    `json:"id"` // SHA-256 of what the browser's cookie holds
	Username string    `json:"username"`
	External bool      `json:"outside,omitempty"` // signed in at an external provider,
	Issuer   string    `json:"issuer,omitempty"`  // this one
	Roles    []string  `json:"roles,omitempty"`   // as that provider said at the sign-in
	Created  time.Time `json:"created"`
	Seen     time.Time `json:"seen"` // when it was last used, roughly
}
