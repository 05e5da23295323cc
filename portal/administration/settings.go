package administration

import (
	"sluice"
	"sluice/portal/page"
)

func settingsPage(v *page.Visit) error {
	found, err := page.Ask[sluice.List[sluice.ServerSetting]](v, "server.settings")
	if err != nil {
		return err
	}
	return v.Show("settings", "Settings", found.Items)
}
