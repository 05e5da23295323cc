package sluice

import "time"

// An Account is what the service stores of a user.
type Account struct {
	ID       string    `json:"id,omitempty"` // a new account of the same name has another one, see Identity
	Username string    `json:"username"`
	Password string    `json:"password"` // argon2id hash; empty: can't log in
	Roles    []string  `json:"roles"`
	Disabled bool      `json:"disabled"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Used     time.Time `json:"used,omitzero"` // last, to the minute
}

// Identity names the account, and no other that had or will have its username.
func (a *Account) Identity() string {
	if a.ID == "" { // it is from before there were ids
		return madeAt(a.Created)
	}
	return a.ID
}

// madeAt makes a name from the time when something was made.
func madeAt(created time.Time) string { return created.UTC().Format(time.RFC3339Nano) }

// A UserView is an account as commands show it: without the password.
type UserView struct {
	Username string    `json:"username" doc:"Their name."`
	Roles    []string  `json:"roles" doc:"Roles that say what they may do."`
	Disabled bool      `json:"disabled" doc:"They can not log in."`
	Created  time.Time `json:"created,omitzero" doc:"When they were created."`
	Updated  time.Time `json:"updated,omitzero" doc:"When they were last changed."`
	LastUsed time.Time `json:"lastUsed,omitzero" doc:"When they last signed in or made a call, to the minute."`
	Warnings []string  `json:"warnings,omitempty" doc:"What should be looked at, though it was stored."`
}
