// Package quarantine keeps calls of webhooks that were rejected, for people to
// look at and to let in after all: quarantine.get, .admit and .delete.
//
// Package webhook decides which calls are kept, says why they were rejected, and takes
// those that are let in. Package jetstream stores them, and sees what was sent only
// sealed.
package quarantine
