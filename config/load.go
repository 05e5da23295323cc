package config

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice"
	"sluice/spelling"
	"sluice/yamltext"
)

// A Setting is a field of Config, for flags and documentation.
type Setting struct {
	Name    string
	Default string
	Doc     string
	Switch  bool // its name alone means true
	Secret  bool // it is a secret, or may contain one
}

// Settings lists all settings.
func Settings() []Setting {
	var all []Setting
	for f := range reflect.TypeFor[Config]().Fields() {
		if name := f.Tag.Get("name"); name != "" {
			all = append(all, Setting{
				name, f.Tag.Get("default"), f.Tag.Get("doc"), f.Type.Kind() == reflect.Bool ||
					f.Tag.Get("switch") != "", f.Tag.Get("secret") != "",
			})
		}
	}
	return all
}

// InEffect returns the values of all settings by name; of those that are or may contain secrets,
// only that they are set.
func (c *Config) InEffect() map[string]string {
	values := map[string]string{}
	for _, s := range Settings() {
		value := c.field(s.Name).Interface()
		text := fmt.Sprint(value)
		switch d, isDuration := value.(time.Duration); {
		case isDuration:
			text = sluice.ShortDuration(d)
		case text != "" && s.Secret:
			text = "(set)"
		}
		if _, meaning, told := strings.Cut(s.Doc, "; 0: "); told && text == "0" {
			text += ": " + meaning
		}
		values[s.Name] = strings.Trim(text, "[]")
	}
	return values
}

// Has reports whether there is a setting of that name, or was one.
func Has(name string) bool {
	_, was := Former[name]
	return was || new(Config).field(name).IsValid()
}

// otherVariables are our variables of the environment that are not settings. Most
// belong to the client, and may be set when a server starts.
var otherVariables = []string{
	"SLUICE_CONFIG", "SLUICE_ADMIN_PASSWORD", "SLUICE_NEW_SECRET_KEY", "SLUICE_BACKUP_PASSPHRASE",
	"SLUICE_URL", "SLUICE_USERNAME", "SLUICE_PASSWORD", "SLUICE_TOKEN", "SLUICE_PROFILE", "SLUICE_CLIENT_DIR",
	"SLUICE_CLIENT_ID", "SLUICE_CLIENT_SECRET", "SLUICE_HANDOVER",
}

// Load returns the settings: defaults, then the YAML file if there is one, then the
// environment in the form of os.Environ, where an empty variable counts as unset, then
// flags by name. Its error is one line that names the wrong setting and its source.
func Load(file string, environ []string, flags map[string]string) (Config, error) {
	var c Config
	for _, s := range Settings() {
		if s.Default == "" {
			continue
		}
		if err := c.set(s.Name, s.Default); err != nil {
			return c, fmt.Errorf("default of %s: %w", s.Name, err)
		}
	}
	c.ListenGiven = false
	if file != "" {
		if err := c.loadFile(file); err != nil {
			return c, err
		}
	}
	if err := c.loadEnvironment(environ); err != nil {
		return c, err
	}
	for name, value := range flags {
		if err := c.set(name, value); err != nil {
			return c, fmt.Errorf("--%s: %w", name, err)
		}
	}
	if len(c.Domain) > 0 && c.PublicURL == "" {
		c.PublicURL = "https://" + c.Domain[0]
	}
	return c, c.check()
}

func (c *Config) loadFile(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	root, second, err := yamltext.One(string(content))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case second != nil:
		return fmt.Errorf("%s:%d:%d: a second document starts here; settings are one", file, second.Line, second.Column)
	case root == nil:
		return nil
	case root.Kind != yaml.MappingNode:
		return fmt.Errorf("%s:%d:%d: expected settings as name: value", file, root.Line, root.Column)
	}
	given := make(map[string]bool)
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		text, err := scalar(value)
		switch {
		case err != nil:
		case given[key.Value]:
			err = errors.New("it is there twice")
		default:
			err = c.set(key.Value, text)
		}
		given[key.Value] = true
		if err != nil {
			return fmt.Errorf("%s:%d:%d: %s: %w", file, key.Line, key.Column, key.Value, err)
		}
	}
	return nil
}

// scalar returns a YAML value in the form of a flag.
func scalar(n *yaml.Node) (string, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value, nil
	case yaml.SequenceNode:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return "", errors.New("expected a list of plain values")
			}
			items[i] = item.Value
		}
		return strings.Join(items, ","), nil
	default:
		return "", errors.New("expected a value or a list of values")
	}
}

func (c *Config) loadEnvironment(environ []string) error {
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(variable, "SLUICE_")
		if !ours || value == "" || slices.Contains(otherVariables, variable) {
			continue
		}
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if err := c.set(name, value); err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
	}
	return nil
}

// field returns the field of a setting, which is invalid if there is no such setting.
func (c *Config) field(name string) reflect.Value {
	for f, value := range reflect.ValueOf(c).Elem().Fields() {
		if f.Tag.Get("name") == name {
			return value
		}
	}
	return reflect.Value{}
}

// set gives a setting its value.
func (c *Config) set(name, text string) error {
	if field := c.field(name); field.IsValid() {
		c.ListenGiven = c.ListenGiven || name == "listen"
		return parse(field, text)
	}
	if instead, was := Former[name]; was {
		return fmt.Errorf("there is no such setting any more: %s; leave it out", instead)
	}
	var names []string
	for _, setting := range Settings() {
		names = append(names, setting.Name)
	}
	return errors.New("there is no such setting; " + spelling.Hint(name, names, "sluice serve --help lists them"))
}

func parse(field reflect.Value, text string) error {
	switch v := field.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return v.UnmarshalText([]byte(text))
	case *string:
		*v = text
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*v = n
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*v = b
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 300ms, 5s or 1h", text)
		}
		*v = d
	default:
		return fmt.Errorf("settings of type %s are not supported", field.Type())
	}
	return nil
}
