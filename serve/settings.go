package serve

import (
	"context"

	"sluice"
	"sluice/command"
	"sluice/config"
)

func settingsCommand(cfg *config.Config) command.Command {
	return command.New("server.settings", "Show the settings in effect, without secrets.",
		func(context.Context, struct{}) (sluice.List[sluice.ServerSetting], error) {
			var all sluice.List[sluice.ServerSetting]
			values := cfg.InEffect()
			for _, s := range config.Settings() {
				all.Items = append(all.Items, sluice.ServerSetting{
					Name: s.Name, Value: values[s.Name], Default: s.Default, About: s.Doc,
				})
			}
			return all, nil
		}, command.ReadOnly, command.Global)
}
