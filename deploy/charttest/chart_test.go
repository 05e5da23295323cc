// Package charttest renders the chart as Helm does, lints it, and holds what comes out against
// the types of Kubernetes: names and kinds of every field, and what makes a pod safe to run.
package charttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const chart = "../helm"

// options uses what the other values leave as it is.
const options = `
image: {repository: example.com/sluice, tag: "1"}
secret: other
settings: {min-free-disk: 1000000000, mail-from: sluice@example.org}
env: [{name: SLUICE_SMTP_URL, valueFrom: {secretKeyRef: {name: other, key: smtp}}}]
disk: {size: 1Ti, class: fast}
pod: {nodeSelector: {disk: fast}, imagePullSecrets: [{name: registry}]}
`

// values are those that operators may give, by name.
func values(t *testing.T) map[string]chartutil.Values {
	t.Helper()
	cluster, err := chartutil.ReadValuesFile(filepath.Join(chart, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := chartutil.ReadValues([]byte(options))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]chartutil.Values{"single": {}, "cluster": cluster, "options": other}
}

// render gives the manifests that Helm makes, one by one.
func render(given chartutil.Values) ([]string, error) {
	c, err := loader.Load(chart)
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "sluice", Namespace: "sluice", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, given, release, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	var documents []string
	for name, text := range files {
		if filepath.Ext(name) == ".yaml" {
			documents = append(documents, text)
		}
	}
	return documents, err
}

// decode reads a manifest, in which nothing may be unknown.
func decode(t *testing.T, document string) any {
	t.Helper()
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
		t.Fatalf("%v in:\n%s", err, document)
	}
	kinds := map[string]any{
		"v1 Service":                    new(corev1.Service),
		"apps/v1 StatefulSet":           new(appsv1.StatefulSet),
		"apps/v1 Deployment":            new(appsv1.Deployment),
		"policy/v1 PodDisruptionBudget": new(policyv1.PodDisruptionBudget),
	}
	object, ok := kinds[kind.APIVersion+" "+kind.Kind]
	if !ok {
		t.Fatalf("nobody knows %v", kind)
	}
	if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
		t.Errorf("%s: %v", kind.Kind, err)
	}
	return object
}

// TestLint is helm lint --strict.
func TestLint(t *testing.T) {
	for name, given := range values(t) {
		for _, message := range lint.All(chart, given, "sluice", true).Messages {
			if message.Severity >= support.WarningSev {
				t.Errorf("%s: %v", name, message)
			}
		}
	}
}

// TestWrongValues: what the chart does not know is refused, and so is what it sets itself.
func TestWrongValues(t *testing.T) {
	for text, want := range map[string]string{
		"replicas: 3":                "replicas",
		"nodes: 0":                   "nodes",
		"disk: {size: large}":        "size",
		"settings: {Public-URL: a}":  "Public-URL",
		`settings: {listen: ":80"}`:  "listen",
		"image: {repository: ''}":    "repository",
		"settings: {public-url: []}": "public-url",
	} {
		given, err := chartutil.ReadValues([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := render(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v", text, err)
		}
	}
}

// TestManifests writes what is rendered to the folder RENDERED, if it is set, where the settings
// in it are held against the program.
func TestManifests(t *testing.T) {
	for name, given := range values(t) {
		t.Run(name, func(t *testing.T) {
			documents, err := render(given)
			if err != nil {
				t.Fatal(err)
			}
			if folder := os.Getenv("RENDERED"); folder != "" {
				whole := strings.Join(documents, "\n---\n")
				if err := os.WriteFile(filepath.Join(folder, name+".yaml"), []byte(whole), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check(t, documents)
		})
	}
}

func check(t *testing.T, documents []string) {
	t.Helper()
	var pod *corev1.PodTemplateSpec
	var labels map[string]string
	selectors := []map[string]string{}
	for _, document := range documents {
		switch o := decode(t, document).(type) {
		case *corev1.Service:
			selectors = append(selectors, o.Spec.Selector)
			checkPorts(t, o)
		case *policyv1.PodDisruptionBudget:
			selectors = append(selectors, o.Spec.Selector.MatchLabels)
		case *appsv1.StatefulSet:
			pod, labels = &o.Spec.Template, o.Spec.Selector.MatchLabels
			checkVolumes(t, o)
		case *appsv1.Deployment:
			pod, labels = &o.Spec.Template, o.Spec.Selector.MatchLabels
		}
	}
	if len(selectors) != 2 || pod == nil {
		t.Fatalf("there are %d manifests", len(documents))
	}
	for _, s := range append(selectors, labels) {
		if len(s) == 0 {
			t.Error("something selects every pod")
		}
		for name, value := range s {
			if pod.Labels[name] != value {
				t.Errorf("nothing has the label %s=%s", name, value)
			}
		}
	}
	checkPod(t, pod.Spec)
}

func checkPorts(t *testing.T, s *corev1.Service) {
	t.Helper()
	for _, port := range s.Spec.Ports {
		if port.TargetPort.StrVal != port.Name {
			t.Errorf("the port %s leads to %s", port.Name, port.TargetPort.StrVal)
		}
	}
}

// checkVolumes wants every mounted volume claimed.
func checkVolumes(t *testing.T, s *appsv1.StatefulSet) {
	t.Helper()
	claimed := map[string]bool{}
	for _, claim := range s.Spec.VolumeClaimTemplates {
		claimed[claim.Name] = true
	}
	for _, mount := range s.Spec.Template.Spec.Containers[0].VolumeMounts {
		if !claimed[mount.Name] {
			t.Errorf("nobody claims the volume %s", mount.Name)
		}
	}
}

// checkPod wants what the restricted security standard of Kubernetes does, and
// probes at ports there are.
func checkPod(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	c := pod.Containers[0]
	ports := map[string]bool{}
	for _, port := range c.Ports {
		ports[port.Name] = true
	}
	for path, probe := range map[string]*corev1.Probe{"/readyz": c.ReadinessProbe, "/healthz": c.LivenessProbe} {
		if probe == nil || probe.HTTPGet.Path != path || !ports[probe.HTTPGet.Port.StrVal] {
			t.Errorf("%s is not asked", path)
		}
	}
	safe := pod.SecurityContext
	if !*safe.RunAsNonRoot || *safe.RunAsUser == 0 || safe.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *pod.AutomountServiceAccountToken {
		t.Error("the pod may do more than it needs")
	}
	if own := c.SecurityContext; *own.AllowPrivilegeEscalation || !*own.ReadOnlyRootFilesystem || len(own.Capabilities.Drop) != 1 || own.Capabilities.Drop[0] != "ALL" {
		t.Error("the container may do more than it needs")
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		t.Error("nothing is said of memory and processors")
	}
}
