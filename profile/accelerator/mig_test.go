package accelerator_test

import (
	"testing"

	"capcli/profile/accelerator"
	"capcli/simulate/mig"
)

// TestSlicesAreThoseOfTheTable: what is read off a profile's name is what the table of MIG says.
func TestSlicesAreThoseOfTheTable(t *testing.T) {
	names := map[string]string{
		"A30-24GB": "NVIDIA A30", "A100-40GB": "NVIDIA A100-SXM4-40GB", "A100-80GB": "NVIDIA A100 80GB PCIe", "H100-80GB": "NVIDIA H100 80GB HBM3",
		"H100-94GB": "NVIDIA H100 NVL", "H100-96GB": "NVIDIA GH200 480GB", "H200-141GB": "NVIDIA H200", "B200-180GB": "NVIDIA B200",
	}
	for _, name := range mig.Names() {
		g, err := mig.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if names[name] == "" {
			t.Errorf("%s: what does its driver call it?", name)
		}
		for _, p := range g.Profiles {
			compute, memory := accelerator.WholeGPU*int64(p.Compute), accelerator.WholeGPU*int64(p.Memory)
			for _, model := range []string{name, names[name]} {
				got, ok := accelerator.SliceOf(model, p.Name)
				if !ok || got.Compute*int64(g.Compute) != compute || got.Memory*int64(g.Memory) != memory {
					t.Errorf("%s of %s: got %+v, want %d/%d and %d/%d", p.Name, model, got, p.Compute, g.Compute, p.Memory, g.Memory)
				}
			}
		}
	}
}

func TestSliceOf(t *testing.T) {
	for _, c := range []struct {
		model, profile string
		share          int64
		ok             bool
	}{
		{"NVIDIA A100-SXM4-80GB", "1g.10gb", 24, true}, // a seventh of the SMs is more than an eighth of the memory
		{"NVIDIA A100-SXM4-40GB", "1g.10gb", 42, true}, // here it is two eighths of the memory
		{"NVIDIA H100 80GB HBM3", "3g.40gb", 84, true}, // half of the memory is more than three sevenths
		{"NVIDIA H100 80GB HBM3", "4g.40gb", 96, true},
		{"NVIDIA H100 80GB HBM3", "7g.80gb", 168, true},
		{"NVIDIA H100 80GB HBM3", "1g.10gb+me", 24, true},
		{"NVIDIA H100 80GB HBM3", "1c.3g.40gb", 28, true}, // three of them are the instance
		{"NVIDIA H100 80GB HBM3", "2c.3g.40gb", 56, true},
		{"NVIDIA A30", "2g.12gb", 84, true},
		{"", "1g.6gb", 42, true},
		{"", "2g.20gb", 48, true},
		{"", "1g.10gb", 24, true},
		{"", "1g.20gb", 42, true},
		{"", "1g.23gb", 24, true},
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "1g.24gb", 42, true},
		{"NVIDIA H100 80GB HBM3", "", 0, false},
		{"NVIDIA H100 80GB HBM3", "8g.10gb", 0, false},
		{"NVIDIA H100 80GB HBM3", "99999999999999999999g.10gb", 0, false},
	} {
		got, ok := accelerator.SliceOf(c.model, c.profile)
		if ok != c.ok || got.Share() != c.share {
			t.Errorf("%q of %q: got %+v, %t, want %d, %t", c.profile, c.model, got, ok, c.share, c.ok)
		}
	}
}

// FuzzSliceOf: whatever the name, a slice is at least a part and at most the whole of a GPU.
func FuzzSliceOf(f *testing.F) {
	f.Add("NVIDIA H100 80GB HBM3", "1c.3g.40gb+me")
	f.Add("", "7g.99999999999gb")
	f.Fuzz(func(t *testing.T, model, profile string) {
		s, ok := accelerator.SliceOf(model, profile)
		if ok != (s.Share() > 0) || s.Share() > accelerator.WholeGPU || s.Compute < 0 || s.Memory < 0 {
			t.Errorf("%q of %q: %+v, %t", profile, model, s, ok)
		}
	})
}
