package shell

import "runtime/debug"

// Of the build; "" where they are not known.
var (
	Version string // as released
	Commit  string // of the source
	Date    string // of the commit
)

// VersionText is the version of this program: that of the linker, else the revision or module
// version of the build; "unknown" without any.
func VersionText() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
