package main

import (
	"github.com/spf13/cobra"

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
	use := &cobra.Command{
		Use:               "use NAME",
		Example:           "  sluice profile use staging",
		Short:             "Make a profile the current one",
		Args:              terminal.Needs("the name of a profile"),
		ValidArgsFunction: t.CompleteProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			profiles, err := t.Profiles()
			if err != nil {
				return err
			}
			if err := profiles.Use(args[0]); err != nil {
				return err
			}
			login, err := profiles.Load(args[0])
			if err != nil {
				return err
			}
			return t.Report(stored{args[0], login.URL, login.Username, true},
				"The profile %s is the current one: %s at %s.", args[0], login.Username, login.URL)
		},
	}
	forget := &cobra.Command{
		Use:               "delete NAME",
		Example:           "  sluice profile delete staging",
		Short:             "Forget a profile without telling its server",
		Args:              terminal.Needs("the name of a profile"),
		ValidArgsFunction: t.CompleteProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			profiles, err := t.Profiles()
			if err != nil {
				return err
			}
			if err := profiles.Delete(args[0]); err != nil {
				return err
			}
			return t.Report(map[string]any{"profile": args[0], "deleted": true}, "The profile %s is forgotten.",
				args[0])
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the stored logins", RunE: list,
	}, use, forget)
	return cmd
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
		t.Note("There are no stored logins; sluice login makes one.")
	}
	return t.ShowValue(all)
}
