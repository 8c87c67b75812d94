package shell

import "runtime/debug"

// Version is that of the build; "" where it is not known.
var Version string

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
