package profile

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MachineID returns an id of the machine whose machine-id(5), or product UUID, is text; "" where text is
// neither. It stays the same when the name of the box changes. The machine-id itself, which may not be
// shown to others, does not follow from it: it is hashed with the name of this use, as machine-id(5) asks
// of programs.
func MachineID(text string) string {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "-", ""))
	if _, err := hex.DecodeString(text); err != nil || len(text) != 32 || strings.Count(text, text[:1]) == len(text) {
		return ""
	}
	hash := hmac.New(sha256.New, []byte(text))
	_, _ = hash.Write([]byte("capcli profile")) // a hash never fails
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// hostMachine is a machine that recorded under the name of a box.
type hostMachine struct{ host, machine string }

// maxMachines is the most machines that a Summary compares.
const maxMachines = 100_000

// meetMachine notes which machine a box is.
func (s *Summary) meetMachine(host, machine string) {
	m := hostMachine{host, machine}
	if s.machines == nil {
		s.machines = map[hostMachine]bool{}
	}
	if len(s.machines) < maxMachines {
		s.machines[m] = true
	}
}

// machineNotes says which boxes have one name and which box has several, three of each.
func (s *Summary) machineNotes() (out []string) {
	const most = 3
	all := slices.Collect(maps.Keys(s.machines))
	each := func(key, value func(hostMachine) string, text func(key string, values []string) string) {
		slices.SortFunc(all, func(a, b hostMachine) int {
			return cmp.Or(strings.Compare(key(a), key(b)), strings.Compare(value(a), value(b)))
		})
		found := 0
		for i := 0; i < len(all); {
			var values []string
			from := i
			for ; i < len(all) && key(all[i]) == key(all[from]); i++ {
				values = append(values, value(all[i]))
			}
			if len(values) > 1 {
				if found++; found <= most {
					out = append(out, text(key(all[from]), values))
				}
			}
		}
		if found > most {
			out = append(out, fmt.Sprintf("and so for %d more", found-most))
		}
	}
	host := func(m hostMachine) string { return m.host }
	machine := func(m hostMachine) string { return m.machine }
	each(host, machine, func(key string, values []string) string {
		return fmt.Sprintf("%d machines recorded under the name %s: two boxes of one name (give one another --host), or one that was installed anew", len(values), key)
	})
	each(machine, host, func(_ string, values []string) string {
		return fmt.Sprintf("one machine recorded as %s: it was renamed, or the boxes are copies with one machine-id", strings.Join(values[:min(len(values), most)], " and as "))
	})
	return out
}
