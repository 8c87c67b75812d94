//go:build linux && cgo

package driver

import "testing"

// Every call to a library that lacks the function says so, where a call of go-nvml would end the program.
func TestAbsentFunctions(t *testing.T) {
	l := NewLibrary("none")
	if l.Loads() {
		t.Error("a file that is not there loads")
	}
	if ret := l.Init(); ret != LibraryNotFound {
		t.Errorf("Init of a library that is not there gives %d", ret)
	}
	d, s, e := Device{lib: l}, GPMSample{lib: l}, EventSet{lib: l}
	first := func(_ any, ret Return) Return { return ret }
	calls := map[string]Return{
		"none":   l.Shutdown(),
		"h":      s.Free(),
		"p":      first(l.DeviceGetCount()),
		"pu":     first(l.Text(SymDriverVersion)),
		"up":     first(l.DeviceGetHandleByIndex(0)),
		"pp":     first(l.DeviceGetHandleByUUID("GPU-0")),
		"hp":     first(d.Number(SymPower)),
		"hh":     d.GPMSampleGet(s),
		"huh":    d.GPMMigSampleGet(1, s),
		"hpu":    first(d.Text(SymUUID)),
		"hup":    d.GetFieldValues(make([]FieldValue, 1)),
		"hpp":    first(d.Processes(SymCompute)),
		"huup":   first(d.GetTotalEccErrors(MemoryErrorCorrected)),
		"hlh":    d.RegisterEvents(EventXid, e),
		"hppl":   first(d.GetProcessUtilization(0)),
		"hulppp": first(d.GetSamples(SamplesUtilGPU, 0)),
		"wait":   first(e.Wait(1)),
	}
	_, _, _, _, calls["hpppp"] = d.GetRemappedRows()
	for form, ret := range calls {
		if ret != FunctionNotFound {
			t.Errorf("the call of form %s gives %d, want %d", form, ret, FunctionNotFound)
		}
	}
	if ret := d.GetFieldValues(nil); ret != Success {
		t.Errorf("no field gives %d", ret)
	}
}
