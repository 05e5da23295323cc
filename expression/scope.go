package expression

// Scope is what an expression sees. Its values are JSON types.
type Scope struct {
	Body    any
	Vars    map[string]any
	Headers map[string]any
	Request map[string]any
	User    map[string]any
	Secret  func(name string) (string, error)

	// Memory is called before templates make many bytes, and may refuse. It may be nil.
	Memory func(bytes int) error
}

// objects has the objects that every expression sees.
var objects = map[string]func(*Scope) any{
	"body":    func(s *Scope) any { return s.Body },
	"vars":    func(s *Scope) any { return orEmpty(s.Vars) },
	"headers": func(s *Scope) any { return orEmpty(s.Headers) },
	"request": func(s *Scope) any { return orEmpty(s.Request) },
	"user":    func(s *Scope) any { return orEmpty(s.User) },
}

func orEmpty(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}
