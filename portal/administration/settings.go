package administration

import "sluice/portal/page"

func settingsPage(v *page.Visit) error {
	return v.Show("settings", "Settings", page.Ask[map[string]string](v, "server.settings"))
}
