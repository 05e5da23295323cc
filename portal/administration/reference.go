package administration

import (
	"cmp"
	"maps"
	"slices"

	"sluice"
	"sluice/portal/page"
)

// A reference is a chapter of the API reference.
type reference struct {
	Chapters   []chapter
	Chapter    string
	Operations []operation
}

func referencePage(v *page.Visit) error {
	view := reference{Chapter: cmp.Or(v.Named("tag"), chapters[0].Name)}
	found := make(map[string]bool)
	paths := object(v.Reference()["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods := object(paths[path])
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			described := object(methods[method])
			of := generalChapter
			if own := texts(described["tags"]); len(own) > 0 {
				of = own[0]
			}
			found[of] = true
			if of == view.Chapter {
				view.add(operationOf(v, path, method, described))
			}
		}
	}
	if !found[view.Chapter] {
		return sluice.Errorf(sluice.CodeNotFound, "There is no such part of the reference.")
	}
	view.Chapters = inOrder(found)
	return v.Show("reference", "API reference", view)
}

// add adds an operation, or another method of the same one.
func (v *reference) add(op operation) {
	if last := len(v.Operations) - 1; last >= 0 {
		if before := &v.Operations[last]; before.Path == op.Path && before.Summary == op.Summary {
			before.Methods = append(before.Methods, op.Methods...)
			before.Body, before.Media = cmp.Or(before.Body, op.Body), cmp.Or(before.Media, op.Media)
			return
		}
	}
	v.Operations = append(v.Operations, op)
}
