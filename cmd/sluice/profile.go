package main

import (
	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/terminal"
)

// stored is what the output shows of a profile.
type stored struct {
	Profile  string `json:"profile"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Current  bool   `json:"current"`
}

func profileCommand(t *cli) *cobra.Command {
	list := func(*cobra.Command, []string) error { return t.listProfiles() }
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "List the stored logins, choose one, forget one",
		RunE:  list,
	}
	cmd.AddCommand(&cobra.Command{Use: "list", Short: "List the stored logins", RunE: list},
		t.profileVerb("use", "Make a profile the current one", func(profiles *client.Profiles, name string) error {
			if err := profiles.Use(name); err != nil {
				return err
			}
			login, err := profiles.Load(name)
			if err != nil {
				return err
			}
			return t.Report(stored{name, login.URL, login.Username, true},
				"The profile %s is the current one: %s at %s.", name, login.Username, login.URL)
		}),
		t.profileVerb("delete", "Forget a profile without telling its server",
			func(profiles *client.Profiles, name string) error {
				if err := profiles.Delete(name); err != nil {
					return err
				}
				return t.Report(map[string]any{"profile": name, "deleted": true}, "The profile %s is forgotten.", name)
			}))
	return cmd
}

// profileVerb makes a verb about one profile.
func (t *cli) profileVerb(verb, short string, run func(profiles *client.Profiles, name string) error) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " NAME",
		Example:           "  sluice profile " + verb + " staging",
		Short:             short,
		Args:              terminal.Needs("the name of a profile"),
		ValidArgsFunction: t.CompleteProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			profiles, err := t.Profiles()
			if err != nil {
				return err
			}
			return run(profiles, args[0])
		},
	}
}

func (t *cli) listProfiles() error {
	profiles, err := t.Profiles()
	if err != nil {
		return err
	}
	names, err := profiles.Names()
	if err != nil {
		return err
	}
	current, all := t.ProfileName(profiles), []stored{}
	for _, name := range names {
		login, err := profiles.Load(name)
		if err != nil {
			return err
		}
		all = append(all, stored{name, login.URL, login.Username, name == current})
	}
	if len(all) == 0 {
		t.Notef("There are no stored logins; sluice login makes one.")
	}
	return t.ShowValue(all)
}
