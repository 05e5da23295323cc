package sluice

// An Exchange is an HTTP request that a step of a run has sent, and its reply.
type Exchange struct {
	Method     string `json:"method"`
	URL        string `json:"url,omitempty"`        // only for users who may see payloads
	Host       string `json:"host,omitempty"`       // of the URL, if the source of the pipeline has it
	StatusCode int    `json:"statusCode,omitempty"` // 0: there was no reply
	Request    string `json:"request,omitempty"`    // headers and body, as far as they are kept
	Response   string `json:"response,omitempty"`   // likewise
}

func (e *Exchange) appendJSON(b []byte) []byte {
	b = appendField(b, `{"method":`, e.Method)
	b = appendOptional(b, `,"url":`, e.URL)
	b = appendOptional(b, `,"host":`, e.Host)
	if e.StatusCode != 0 {
		b = appendNumber(b, `,"statusCode":`, e.StatusCode)
	}
	b = appendOptional(b, `,"request":`, e.Request)
	b = appendOptional(b, `,"response":`, e.Response)
	return append(b, '}')
}

// NotRecorded is the error of a request whose reply is not known, see Run.Recorded.
func NotRecorded() *Error {
	return Errorf(CodeNotRecorded, "It is not known what this request would have been answered with.")
}

// IsNotRecorded reports whether an error is NotRecorded.
func IsNotRecorded(err error) bool { return CodeNotRecorded.Is(err) }
