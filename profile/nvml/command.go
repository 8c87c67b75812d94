package nvml

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxCommand = 256

// secrets are parts of the names of switches whose value must not be recorded.
var secrets = []string{"token", "passw", "secret", "apikey", "api-key", "api_key", "credential"}

// commandOf returns the command in /proc/PID/cmdline, whose arguments end in NUL; "[name]" for a
// process without one. It is at most maxCommand bytes long. The values of switches named like
// secrets are replaced by ***.
func commandOf(cmdline, name string) string {
	cmdline = strings.TrimRight(cmdline, "\x00")
	if cmdline == "" {
		if name == "" {
			return ""
		}
		return clip("["+name+"]", maxCommand)
	}
	var b strings.Builder
	hide, first := false, true
	for arg := range strings.SplitSeq(cmdline, "\x00") {
		if first {
			arg = path.Base(arg)
		} else {
			b.WriteByte(' ')
		}
		switch key, _, assigned := strings.Cut(arg, "="); {
		case hide:
			arg, hide = "***", false
		case !first && secret(key) && assigned:
			arg = key + "=***"
		case !first && secret(key) && strings.HasPrefix(arg, "-"):
			hide = true
		}
		first = false
		b.WriteString(arg)
		if b.Len() > maxCommand {
			break
		}
	}
	return clip(printable(b.String()), maxCommand)
}

func secret(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(key, s) })
}

// printable replaces control characters and invalid UTF-8 by spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// clip cuts s to at most n bytes of whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
