package sluice

// A CloudEvent has the attributes of an event in the format of the CNCF.
type CloudEvent struct {
	ID      string `json:"id"`
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
	Time    string `json:"time,omitempty"`
}

func (c *CloudEvent) appendJSON(b []byte) []byte {
	b = appendField(b, `,"ce":{"id":`, c.ID)
	b = appendField(b, `,"source":`, c.Source)
	b = appendField(b, `,"type":`, c.Type)
	b = appendOptional(b, `,"subject":`, c.Subject)
	b = appendOptional(b, `,"time":`, c.Time)
	return append(b, '}')
}
