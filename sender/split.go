package sender

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"sluice"
	"sluice/value"
)

// A Split says where in the body of a call the list is whose items are events: the parameter split.
// Nil: the call is one event.
type Split []string

const allItems = "[*]" // of a list on the way

// ParseSplit reads the parameter split: payload, payload.<member>, or payload.<member>[*].<member>
// through other lists. Nil for off, and for what is no split.
func ParseSplit(place string) Split {
	steps := strings.Split(strings.ReplaceAll(place, allItems, "."+allItems), ".")
	for i, step := range steps {
		isList := step == allItems
		if step == "" || i > 0 && !isList && strings.ContainsAny(step, "[]*") || i == len(steps)-1 && isList {
			return nil
		}
	}
	if steps[0] != "payload" || len(steps) > maxPath || len(place) > maxPattern {
		return nil
	}
	return steps
}

// IsSplit reports whether a text can be the parameter split.
func IsSplit(place string) bool {
	return slices.Contains([]string{"", "off", sluice.Auto}, place) || ParseSplit(place) != nil
}

// SplitOf returns where the list of a call is, of a webhook or a sender with a setting. Auto counts for
// batches of CloudEvents, whoever sends them.
func SplitOf(setting, ofSender, contentType string) Split {
	if setting != sluice.Auto {
		return ParseSplit(setting)
	}
	if media, _, _ := mime.ParseMediaType(contentType); media == cloudEventBatch {
		return Split{"payload"}
	}
	return ParseSplit(ofSender)
}

const cloudEventBatch, cloudEventJSON = "application/cloudevents-batch+json", "application/cloudevents+json"

// ItemType returns the content type of an item of a call that has one.
func ItemType(contentType string) string {
	if media, _, _ := mime.ParseMediaType(contentType); media == cloudEventBatch {
		return cloudEventJSON
	}
	return contentType
}

// Items returns the items of valid JSON. It is not found if there is no list at the place.
func (s Split) Items(body []byte) (items [][]byte, found bool) {
	if s == nil {
		return nil, false
	}
	return itemsAt(nil, body[value.SkipSpace(body, 0):], s[1:])
}

func itemsAt(items [][]byte, data []byte, path []string) (all [][]byte, found bool) {
	if len(path) > 0 && path[0] != allItems {
		inner := value.Lookup(data, path[0])
		if inner == nil {
			return items, false
		}
		return itemsAt(items, inner, path[1:])
	}
	if data[0] != '[' {
		return items, false
	}
	for item := range value.Elements(data) {
		if len(path) == 0 {
			items = append(items, item)
			continue
		}
		if items, found = itemsAt(items, item, path[1:]); !found {
			return nil, false // it would be lost
		}
	}
	return items, true
}

// Within returns a place that eventType or dedupe names, as items have it: what is named of the first
// item of a call is that of each.
func (s Split) Within(place string) string {
	first := strings.Join(append(slices.Clone(s[1:]), "0"), ".")
	first = "body:" + strings.ReplaceAll(first, allItems, "0") + "."
	if member, found := strings.CutPrefix(place, first); found {
		return "body:" + member
	}
	return place
}

// Paths adds to paths into items those that lead there from the call.
func (s Split) Paths(paths []string) []string {
	prefix := strings.ReplaceAll(strings.Join(s, "."), "."+allItems, allItems) + allItems
	all := slices.Clone(paths) // of a call that has no list
	for _, path := range paths {
		if rest, ok := strings.CutPrefix(path, "payload"); ok {
			all = append(all, prefix+rest)
		}
	}
	return all
}

// ItemID returns the id of an item of a call. Where only the call has one, that makes ids with the
// places of its items.
func (d Dedupe) ItemID(call, item *Call, index int) (string, error) {
	switch {
	case d.where == "item", d.where == "content", d.where == "cloudevent" && call.Header["Ce-Id"] == nil:
		return d.ID(item)
	case d.where == "body":
		if id, err := d.ID(item); id != "" || err != nil {
			return id, err
		}
	}
	id, err := d.ID(call)
	if id == "" || err != nil {
		return "", err
	}
	return short(id + "/" + strconv.Itoa(index)), nil
}
