package schema

import (
	"reflect"
	"runtime"
	"runtime/debug"

	"capcli/cmd/panel/engine"
	"capcli/profile/nvml"
)

// Version is the document capcli/version/v1: what this program is, and what it can.
type Version struct {
	Schema   string          `json:"schema"`
	Version  string          `json:"version"`
	Module   string          `json:"module"`
	Commit   string          `json:"commit,omitempty"`
	Date     string          `json:"date,omitempty"` // of the commit, RFC 3339
	Modified bool            `json:"modified"`       // built of a tree with changes that are not committed
	Go       string          `json:"go"`
	Platform string          `json:"platform"`
	Features map[string]bool `json:"features"`
	Schemas  []string        `json:"schemas"` // every document and file that has a schema
}

func init() {
	const id = "capcli/version/v1"
	Documents.Add("version", "capcli version -o json: what this program is, and what it can", Document{
		ID: id, Make: func(m *Maker) *Schema { return m.output(id, reflect.TypeFor[Version]()) }, Output: true,
	})
}

// Build describes this program. commit and date are those that the linker set; "" takes those of the build.
func Build(version, commit, date string) *Version {
	v := &Version{
		Schema: "capcli/version/v1", Version: version, Module: modulePath(), Commit: commit, Date: date,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Features: map[string]bool{"nvml": nvml.Built},
	}
	_, err := engine.Load()
	v.Features["engine"] = err == nil
	if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Date = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	for _, d := range Documents.All() {
		v.Schemas = append(v.Schemas, d.Value.ID)
	}
	return v
}
