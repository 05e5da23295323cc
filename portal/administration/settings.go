package administration

import "sluice/portal/page"

func settingsPage(v *page.Visit) error {
	found, err := page.Ask[map[string]string](v, "server.settings")
	if err != nil {
		return err
	}
	return v.Show("settings", "Settings", found)
}
