package iam

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sluice"
	"sluice/command"
)

// BenchmarkAuthorising measures what scopes add to a call: finding the user's rights and
// asking whether they cover a name, with no roles and with 1,000 of them, each with a scope,
// which the user has all.
func BenchmarkAuthorising(b *testing.B) {
	for _, roles := range []int{0, 1000} {
		b.Run(fmt.Sprintf("%d roles", roles), func(b *testing.B) {
			d := newDirectory(b)
			names := []string{"developer"}
			for i := range roles {
				name := fmt.Sprintf("team-%d", i)
				must(b, d, "admin", "iam.role.put", fmt.Sprintf(`{"role": %q, "permissions": ["webhook.*", "pipeline.*"], "scope": ["team%d"]}`, name, i))
				names = append(names, name)
			}
			if roles > 0 {
				names = names[1:]
			}
			must(b, d, "admin", "iam.user.put", fmt.Sprintf(`{"username": "ada", "roles": ["%s"]}`, strings.Join(names, `","`)))
			set := command.NewSet(d.Note, []command.Command{command.New("webhook.look", "Look.",
				func(_ context.Context, _ struct {
					EventKey string `json:"eventKey" names:"new event" doc:"Key."`
				}) (any, error) {
					return nil, nil
				}, command.ReadOnly)})
			cmd, _ := set.Find("webhook.look")
			args := command.Args{{Name: "eventKey", Value: "webhook.team7.a"}}
			for b.Loop() {
				user, err := d.User(b.Context(), "ada")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := set.Call(sluice.WithUser(b.Context(), user), cmd, args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
