package serve

import (
	"context"

	"sluice/command"
)

func (s *Server) settingsCommand() command.Command {
	return command.New("server.settings", "Show the settings in effect, by name; of secrets only that they are set.",
		func(context.Context, struct{}) (map[string]string, error) { return s.cfg.InEffect(), nil },
		command.ReadOnly, command.Global)
}
