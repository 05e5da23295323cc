package sluice

import (
	"strconv"
	"time"
)

// A Call is one call of a webhook, accepted or refused, as those who count and
// look for calls see it.
type Call struct {
	Time          time.Time     `json:"time"`
	TraceID       string        `json:"traceId"`
	CorrelationID string        `json:"correlationId,omitempty"` // of an accepted one
	EventKey      string        `json:"eventKey,omitempty"`      // where the webhook is known
	Status        int           `json:"status"`                  // of the HTTP answer
	Code          string        `json:"code,omitempty"`          // of the refusal
	Size          int           `json:"size"`                    // of the body, as far as it was read or announced
	Duration      time.Duration `json:"duration"`                // in nanoseconds
	RemoteAddr    string        `json:"remoteAddr"`
	Listeners     []string      `json:"listeners,omitempty"` // pipelines that it starts
	Count         int           `json:"count,omitempty"`     // calls that this stands for, if it is more than one
}

// AppendJSON appends the call's JSON, as encoding/json would write it.
func (c *Call) AppendJSON(b []byte) []byte {
	b = append(b, `{"time":"`...)
	b = c.Time.AppendFormat(b, time.RFC3339Nano)
	b = appendField(b, `","traceId":`, c.TraceID)
	b = appendOptional(b, `,"correlationId":`, c.CorrelationID)
	b = appendOptional(b, `,"eventKey":`, c.EventKey)
	b = appendNumber(b, `,"status":`, c.Status)
	b = appendOptional(b, `,"code":`, c.Code)
	b = appendNumber(b, `,"size":`, c.Size)
	b = appendNumber(b, `,"duration":`, c.Duration)
	b = appendField(b, `,"remoteAddr":`, c.RemoteAddr)
	if len(c.Listeners) > 0 {
		b = append(b, `,"listeners":`...)
		b = appendStrings(b, c.Listeners)
	}
	if c.Count != 0 {
		b = appendNumber(b, `,"count":`, c.Count)
	}
	return append(b, '}')
}

func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendField(b, name, value)
}

func appendNumber[N int | time.Duration](b []byte, name string, value N) []byte {
	return strconv.AppendInt(append(b, name...), int64(value), 10)
}
