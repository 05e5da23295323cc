// Package kubernetes holds the manifests against the types of Kubernetes: names
// and kinds of every field, and what makes a pod safe to run.
package kubernetes

import (
	"bytes"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// decode reads the documents of a file, in which nothing may be unknown.
func decode(t *testing.T, file string) []any {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []any
	for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		kinds := map[string]any{
			"v1 Service":                    new(corev1.Service),
			"apps/v1 StatefulSet":           new(appsv1.StatefulSet),
			"apps/v1 Deployment":            new(appsv1.Deployment),
			"policy/v1 PodDisruptionBudget": new(policyv1.PodDisruptionBudget),
		}
		object, ok := kinds[kind.APIVersion+" "+kind.Kind]
		if !ok {
			t.Fatalf("%s: nobody knows %v", file, kind)
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Errorf("%s: %s: %v", file, kind.Kind, err)
		}
		objects = append(objects, object)
	}
	return objects
}

func TestManifests(t *testing.T) {
	for _, file := range []string{"single.yaml", "cluster.yaml"} {
		t.Run(file, func(t *testing.T) {
			var pod *corev1.PodTemplateSpec
			var labels map[string]string
			selectors := []map[string]string{}
			for _, object := range decode(t, file) {
				switch o := object.(type) {
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
			for _, s := range append(selectors, labels) {
				for name, value := range s {
					if pod.Labels[name] != value {
						t.Errorf("nothing has the label %s=%s", name, value)
					}
				}
			}
			checkPod(t, pod.Spec)
		})
	}
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
