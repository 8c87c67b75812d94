package service

import (
	"regexp"
	"strings"
	"testing"
)

// The template is a service that can be played, and names every field.
func TestTemplate(t *testing.T) {
	s, err := Parse("template.yaml", []byte(Template()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Servable()
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		t.Error(err)
	}
	own := Section.Start
	for _, f := range fields(&own) {
		if !regexp.MustCompile(`(?m)^#?` + f.Name + `:`).MatchString(Template()) {
			t.Errorf("the template does not say %s", f.Name)
		}
		if f.Doc == "" {
			t.Errorf("%s has no line about it", f.Name)
		}
	}
}

// With the # of a field taken away, each by itself, the file stays a service, or says only that two fields
// exclude each other.
func TestTemplateFields(t *testing.T) {
	lines := strings.Split(templateText, "\n")
	field := regexp.MustCompile(`^#([a-z_]+):`)
	tried := 0
	for i, l := range lines {
		m := field.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		tried++
		changed := append([]string(nil), lines...)
		changed[i] = l[1:]
		for j, o := range lines { // a field that is there already gives way
			if strings.HasPrefix(o, m[1]+":") || m[1] == "slo" && strings.HasPrefix(o, "promise:") || (m[1] == "load" || m[1] == "agents" || m[1] == "batch_time") && strings.HasPrefix(o, "requests:") ||
				m[1] == "batch_time" && (strings.HasPrefix(o, "model:") || strings.HasPrefix(o, "gpu_model:") || strings.HasPrefix(o, "promise:")) {
				changed[j] = ""
			}
		}
		if _, err := Parse("template.yaml", []byte(strings.Join(changed, "\n"))); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	if tried < 35 {
		t.Errorf("tried %d fields", tried)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(templateText))
	f.Add([]byte(`{"policy": "chunked", "time": {"c0": 1, "lin": [[1, 2]], "seq": 0}, "blocks": 9, "replicas": [{"ready": 0, "down": 5}], "slo": {"ttft": 5}}`))
	f.Add([]byte("prefill: {replicas: 2, transfer: 5ms}\ntime: {lin: [[1, 1], [2]]}\nblocks: 3\nreplicas: 1\npromise: {share: 99.9%}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f", text)
		if err != nil {
			return
		}
		c, err := s.Servable()
		if err != nil {
			return
		}
		if err := c.Check(); err != nil && s.isServable {
			t.Errorf("a service that was read is refused: %v", err)
		}
	})
}
