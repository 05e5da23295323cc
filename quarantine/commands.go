// Package quarantine keeps calls of webhooks that were rejected, for people to
// look at and to let in after all: quarantine.get, .admit and .delete.
//
// Package webhook decides which calls are kept, says why they were rejected, and takes
// those that are let in. Package jetstream stores them, and sees what was sent only
// sealed.
package quarantine

import "sluice/command"

// Commands returns the commands about rejected calls.
func Commands(k *Keeper) []command.Command {
	return []command.Command{
		command.New("quarantine.get", "Find calls that were refused and are kept, newest first, with a diagnosis; "+
			"with headers and bodies, secrets masked, for users who may see payloads.", k.get, command.ReadOnly),
		command.New("quarantine.admit", "Let rejected calls in after all, as new calls, the oldest first: they "+
			"are checked again as their webhook is now. One that is rejected again stays.", k.admit),
		command.New("quarantine.delete", "Delete rejected calls that are kept.", k.delete),
	}
}
