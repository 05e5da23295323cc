// Package quarantine keeps calls of webhooks that were rejected, for people to
// look at and to let in after all: quarantine.get, .admit and .delete.
//
// Package webhook says which calls are kept, why they were rejected, and takes
// those that are let in. Where they are stored is package jetstream's business:
// it sees what was sent only sealed.
package quarantine
