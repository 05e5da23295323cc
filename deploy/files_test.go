package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"go.yaml.in/yaml/v3"

	"sluice/config"
	"sluice/serve"
)

type service struct {
	Image       string
	Environment map[string]string
	Volumes     []string
	DependsOn   yaml.Node `yaml:"depends_on"`
	Healthcheck struct{ Test []string }
	User        string
	ReadOnly    bool `yaml:"read_only"`
}

// variable is one of the environment as compose files name it.
var variable = regexp.MustCompile(`\$\{(\w+)(?::([-?])([^}]*))?\}`)

// given are the variables that operators must set.
var given = map[string]string{
	"NATS_PASSWORD":         "nats-0123456789abcdef",
	"SLUICE_SECRET_KEY":     "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
	"SLUICE_ADMIN_PASSWORD": "secret",
}

// filled puts the values in place of variables.
func filled(t *testing.T, text string) string {
	t.Helper()
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		parts := variable.FindStringSubmatch(found)
		if value, ok := given[parts[1]]; ok {
			return value
		}
		if parts[2] != "-" {
			t.Errorf("nobody is told to set %s", parts[1])
		}
		return parts[3]
	})
}

// settings wants variables to be settings of a server, as the program itself
// sees it.
func settings(t *testing.T, where string, environment map[string]string) {
	t.Helper()
	var environ []string
	for name, value := range environment {
		environ = append(environ, name+"="+filled(t, value))
	}
	if _, err := config.Load("", environ, nil); err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

func TestComposeFiles(t *testing.T) {
	for _, file := range []string{"compose/single.yaml", "compose/cluster.yaml"} {
		t.Run(file, func(t *testing.T) {
			var project struct {
				Services map[string]service
				Volumes  map[string]any
			}
			if err := yaml.Unmarshal([]byte(read(t, file)), &project); err != nil {
				t.Fatal(err)
			}
			for name, s := range project.Services {
				where := file + ": " + name
				if strings.HasPrefix(s.Image, "sluice:") {
					settings(t, where, s.Environment)
					if !s.ReadOnly || strings.Join(s.Healthcheck.Test, " ") != "CMD /sluice health" {
						t.Errorf("%s may write, or nobody asks how it is", where)
					}
				}
				for _, volume := range s.Volumes {
					from, _, _ := strings.Cut(volume, ":")
					if _, err := os.Stat(filepath.Join("compose", from)); strings.HasPrefix(from, ".") && err != nil {
						t.Errorf("%s: %v", where, err)
					}
					if _, ok := project.Volumes[from]; !ok && !strings.HasPrefix(from, ".") {
						t.Errorf("%s: there is no volume %s", where, from)
					}
				}
				for _, dependency := range names(s.DependsOn) {
					if _, ok := project.Services[dependency]; !ok {
						t.Errorf("%s: there is no %s", where, dependency)
					}
				}
			}
		})
	}
}

// names returns the items of a list, or the keys of a map.
func names(n yaml.Node) (all []string) {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i < len(n.Content); i += step {
		all = append(all, n.Content[i].Value)
	}
	return all
}

// TestNATSOfTheCluster: the engine keeps what is acknowledged, and takes the
// largest payloads.
func TestNATSOfTheCluster(t *testing.T) {
	t.Setenv("NATS_NAME", "nats-1")
	t.Setenv("NATS_PASSWORD", given["NATS_PASSWORD"])
	opts, err := server.ProcessConfigFile("compose/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if !opts.SyncAlways || opts.MaxPayload < 8e6 || !opts.JetStream || len(opts.Routes) != 3 || opts.ServerName != "nats-1" || opts.Password != given["NATS_PASSWORD"] {
		t.Errorf("sync always %v, max payload %d, JetStream %v, routes %v, name %s", opts.SyncAlways, opts.MaxPayload, opts.JetStream, opts.Routes, opts.ServerName)
	}
}

// TestChart renders and checks the chart in a module of its own, which has Helm and the types
// of Kubernetes. The variables of its pods are settings of the program.
func TestChart(t *testing.T) {
	if text := read(t, "helm/Chart.yaml"); strings.Count(text, "ersion: "+serve.Version+"\n") != 2 {
		t.Errorf("chart and program are not of version %s:\n%s", serve.Version, text)
	}
	needs(t)
	rendered := t.TempDir()
	run(t, []string{"GOWORK=off", "RENDERED=" + rendered}, "charttest", "go", "test", "-count=1", "./...")
	for _, name := range []string{"single", "cluster", "options"} {
		settings(t, name, environment(t, read(t, filepath.Join(rendered, name+".yaml"))))
	}
}

// environment gives the variables of the pods in a file of manifests.
func environment(t *testing.T, manifests string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for documents := yaml.NewDecoder(strings.NewReader(manifests)); ; {
		var object struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Env []struct{ Name, Value string }
						}
					}
				}
			}
		}
		if documents.Decode(&object) != nil {
			break
		}
		for _, container := range object.Spec.Template.Spec.Containers {
			for _, e := range container.Env {
				found[e.Name] = e.Value
			}
		}
	}
	if found["SLUICE_PUBLIC_URL"] == "" {
		t.Errorf("there are no settings in %s", manifests)
	}
	// A secret holds these.
	for name, value := range map[string]string{
		"SLUICE_SECRET_KEY": given["SLUICE_SECRET_KEY"],
		"SLUICE_NATS":       "nats://nats:4222",
		"SLUICE_SMTP_URL":   "smtps://user:password@mail.example.com",
	} {
		if _, ok := found[name]; ok {
			found[name] = value
		}
	}
	return found
}

// TestUnit: systemd understands the unit, and finds little that it exposes.
func TestUnit(t *testing.T) {
	if _, err := config.Load("systemd/sluice.yaml", nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		needs(t, "systemd-analyze")
	}
	unit := adapted(t, "systemd/sluice.service", map[string]string{"ExecStart=sluice": "ExecStart=/bin/true"})
	socket := filepath.Join(filepath.Dir(unit), "sluice.socket")
	if err := os.WriteFile(socket, []byte(read(t, "systemd/sluice.socket")), 0o600); err != nil {
		t.Fatal(err)
	}
	if output := run(t, nil, ".", "systemd-analyze", "verify", unit, socket); strings.TrimSpace(output) != "" {
		t.Errorf("systemd-analyze says %s", output)
	}
	run(t, nil, ".", "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20", unit)
}

// TestFilesThatDocumentsName: they are there.
func TestFilesThatDocumentsName(t *testing.T) {
	name := regexp.MustCompile(`\bdeploy/[\w./-]*\w`)
	for _, document := range []string{"../docs/install.md", "../docs/proxies.md", "helm/values.yaml", "helm/cluster.yaml", "compose/single.yaml", "compose/cluster.yaml"} {
		found := name.FindAllString(read(t, document), -1)
		if len(found) == 0 {
			t.Errorf("%s names no file", document)
		}
		for _, file := range found {
			if _, err := os.Stat(filepath.Join("..", file)); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
}
