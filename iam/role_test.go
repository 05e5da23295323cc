package iam

import (
	"context"
	"slices"
	"testing"

	"sluice"
)

// interrupted are roles of which one change comes just after another one.
type interrupted struct {
	sluice.FollowedRecords[sluice.Role]

	first func()
}

func (r *interrupted) Change(ctx context.Context, key string, decide func(*sluice.Role, map[string]*sluice.Role) (*sluice.Role, error)) (*sluice.Role, error) {
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	return r.FollowedRecords.Change(ctx, key, decide)
}

// TestOfTwoEditsOfARoleBothCount: an edit is one of the role as it is by then, so
// it brings nothing back that another one has just taken away.
func TestOfTwoEditsOfARoleBothCount(t *testing.T) {
	d := newDirectory(t)
	roles := &interrupted{FollowedRecords: d.Roles}
	d.Roles = roles
	must(t, d, "admin", "iam.role.put", `{"role":"partner","permissions":["webhook.get","webhook.put"]}`)
	roles.first = func() { must(t, d, "admin", "iam.role.put", `{"role":"partner","permissions":["webhook.get"]}`) }
	must(t, d, "admin", "iam.role.put", `{"role":"partner","scope":["acme"]}`)
	role, err := d.role(t.Context(), "partner")
	if err != nil || !slices.Equal(role.Permissions, []string{"webhook.get"}) || !slices.Equal(role.Scope, []string{"acme"}) {
		t.Errorf("%v: the role is %+v, want the permissions of one edit and the scope of the other", err, role)
	}
}

// TestARoleThatWasWidenedIsNotEditedByThoseWithLess: what a caller may edit is decided by the
// role as it is by then.
func TestARoleThatWasWidenedIsNotEditedByThoseWithLess(t *testing.T) {
	d := newDirectory(t)
	roles := &interrupted{FollowedRecords: d.Roles}
	d.Roles = roles
	must(t, d, "admin", "iam.role.put", `{"role":"helpdesk","permissions":["iam.*","webhook.get"]}`)
	must(t, d, "admin", "iam.role.put", `{"role":"partner","permissions":["webhook.get"]}`)
	must(t, d, "admin", "iam.user.put", `{"username":"hal","roles":["helpdesk"]}`)
	for _, edit := range []string{`{"role":"partner","permissions":["webhook.get"]}`, `{"role":"partner","scope":["acme"]}`} {
		roles.first = func() { must(t, d, "admin", "iam.role.put", `{"role":"partner","permissions":["webhook.*"]}`) }
		_, err := call(t, d, "hal", "iam.role.put", edit)
		wantCode(t, err, sluice.Forbidden, "forbidden")
		must(t, d, "admin", "iam.role.put", `{"role":"partner","permissions":["webhook.get"]}`)
	}
}
