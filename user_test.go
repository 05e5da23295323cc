package sluice_test

import (
	"strings"
	"testing"

	"sluice"
)

// TestBounds: a user within others has the permissions that all of them have.
func TestBounds(t *testing.T) {
	admin := sluice.User{Name: "admin", Permissions: []string{"*"}}
	developer := sluice.User{Name: "dev", Permissions: []string{"webhook.*", "set"}}
	viewer := sluice.User{Name: "vi", Permissions: []string{"read"}}
	gone := sluice.User{}
	for name, test := range map[string]struct {
		user        sluice.User
		may, mayNot []string // to call; those that end in .get change nothing
		bounded     bool
	}{
		"nobody else":        {user: developer, may: []string{"webhook.put", "webhook.get"}, mayNot: []string{"iam.user.get"}},
		"the same":           {user: developer.Within(developer), may: []string{"webhook.put"}, mayNot: []string{"iam.user.put"}},
		"one who may more":   {user: developer.Within(admin), may: []string{"webhook.put"}, mayNot: []string{"iam.user.put"}},
		"one who may less":   {user: admin.Within(developer), may: []string{"webhook.put", "set"}, mayNot: []string{"iam.user.put", "iam.user.get"}, bounded: true},
		"one who reads":      {user: developer.Within(viewer), may: []string{"webhook.get"}, mayNot: []string{"webhook.put", "iam.user.get"}, bounded: true},
		"a reader":           {user: viewer.Within(developer), may: []string{"webhook.get"}, mayNot: []string{"webhook.put", "iam.user.get"}, bounded: true},
		"two of them":        {user: admin.Within(developer).Within(viewer), may: []string{"webhook.get"}, mayNot: []string{"set", "iam.user.get"}, bounded: true},
		"one with a bound":   {user: admin.Within(admin.Within(developer)), may: []string{"set"}, mayNot: []string{"iam.user.get"}, bounded: true},
		"one who is deleted": {user: admin.Within(gone), mayNot: []string{"set", "webhook.get"}, bounded: true},
	} {
		readOnly := func(command string) bool { return strings.HasSuffix(command, ".get") }
		for _, command := range test.may {
			if !test.user.MayCall(command, readOnly(command)) {
				t.Errorf("%s: may not call %s", name, command)
			}
		}
		for _, command := range test.mayNot {
			if test.user.MayCall(command, readOnly(command)) {
				t.Errorf("%s: may call %s", name, command)
			}
		}
		if got := test.user.Bounded(); got != test.bounded {
			t.Errorf("%s: bounded is %v", name, got)
		}
	}
}
