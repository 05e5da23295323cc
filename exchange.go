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

// brief returns the exchange for users who may not see payloads.
func (e *Exchange) brief() *Exchange {
	return &Exchange{Method: e.Method, Host: e.Host, StatusCode: e.StatusCode}
}

// OfAuthor reports whether a pipeline's author has written the message for the caller: it may
// be made of the payload. The other errors quote no payloads.
func (p *Problem) OfAuthor() bool {
	return p != nil && (p.Code == CodeFailed.Word || p.Code == CodeAssertionFailed.Word)
}

// HideMessage hides a message that may be made of the payload.
func (p *Problem) HideMessage() {
	if p.OfAuthor() {
		p.Detail = "The message of this step is shown to users with the permission " + MaySeePayload + "."
	}
}

// HidePayloads reduces exchanges to what everybody who sees calls may see.
func (r *RunReport) HidePayloads() {
	for i := range r.Steps {
		if r.Steps[i].HTTP != nil {
			r.Steps[i].HTTP = r.Steps[i].HTTP.brief()
		}
	}
}

// NotRecorded is the error of a request whose reply is not known, see Run.Recorded.
func NotRecorded() *Error {
	return Errorf(CodeNotRecorded, "It is not known what this request would have been answered with.")
}

// IsNotRecorded reports whether an error is NotRecorded.
func IsNotRecorded(err error) bool { return CodeNotRecorded.Is(err) }

// NoteHTTP notes what the current step has sent and what came back, for the
// report of the run. A nil run takes it and forgets it.
func (r *Run) NoteHTTP(e Exchange) {
	if r != nil {
		r.http = &e
	}
}

// TakeHTTP returns what the current step has noted, and forgets it; nil if there
// is nothing.
func (r *Run) TakeHTTP() *Exchange {
	e := r.http
	r.http = nil
	return e
}
