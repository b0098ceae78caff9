package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/faults"
)

// stalepage runs one command line in this process.
func stalepage(arguments ...string) (code int, output, problems string) {
	var out, problem bytes.Buffer
	code = execute(arguments, &out, &problem)
	return code, out.String(), problem.String()
}

// journalOf writes the journal of a variant of the walk-through and returns its path.
func journalOf(t *testing.T, variant string) string {
	t.Helper()
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "made", "if", "missing")
	code, _, problems := stalepage("reproduce", "eight-pages", "--variant", variant, "--out", folder)
	g.Expect(problems).To(BeEmpty())
	g.Expect(code).To(Equal(exitPass))
	path := filepath.Join(folder, "eight-pages-full-"+variant+".jsonl.zst")
	g.Expect(path).To(BeARegularFile())
	return path
}

// Goal: the walk-through passes because each variant does what is recorded, and says in words what leaked, whose it was,
// and how to keep the evidence.
func TestReproduceTable(t *testing.T) {
	g := NewWithT(t)
	code, output, problems := stalepage("reproduce", "eight-pages")
	g.Expect(code).To(Equal(exitPass))
	g.Expect(problems).To(BeEmpty())
	lines := strings.Split(output, "\n")
	g.Expect(lines[0]).To(Equal("The published walk-through: a prompt of eight pages, one written, seven stale"))
	g.Expect(lines[1]).To(HavePrefix("scale full, seed 20260908, kernel "))
	g.Expect(strings.Fields(lines[3])[:3]).To(Equal([]string{"variant", "responses", "leaked"}))
	for i, variant := range []string{"as-shipped", "guarded", "resized"} {
		row := strings.Fields(lines[4+i])
		g.Expect(row[:3]).To(Equal([]string{variant, "1", map[bool]string{true: "1", false: "0"}[i == 0]}), lines[4+i])
		g.Expect(row[len(row)-2:]).To(Equal([]string{map[bool]string{true: "fail", false: "pass"}[i == 0], "yes"}))
	}
	g.Expect(output).To(ContainSubstring("The only leak of as-shipped: request 4 of tenant 1001, 512 prompt tokens, was answered"))
	g.Expect(output).To(MatchRegexp(`tokens 6 to 34 are tenant 2's: request 1, prompt tokens 219 to 247, read from page 8 `))
	g.Expect(output).To(ContainSubstring("As recorded: pass."))
	g.Expect(output).To(ContainSubstring("To keep the evidence: stalepage reproduce eight-pages --scale full --variant " +
		"as-shipped --seed 20260908 --out journals"))
	g.Expect(output).NotTo(ContainSubstring("\x1b["), "a buffer is no terminal")
}

// Goal: the fields that readers of the JSON rely on are there, by name, and the counts are those of the walk-through.
func TestReproduceJSON(t *testing.T) {
	g := NewWithT(t)
	code, output, _ := stalepage("reproduce", "eight-pages", "--json", "--seed", "5")
	g.Expect(code).To(Equal(exitPass))
	var summary map[string]any
	g.Expect(json.Unmarshal([]byte(output), &summary)).To(Succeed())
	g.Expect(summary).To(And(
		HaveKeyWithValue("incident", "eight-pages"), HaveKeyWithValue("scale", "full"), HaveKeyWithValue("seed", 5.0),
		HaveKeyWithValue("verdict", "pass"), HaveKey("variants")))
	variants := summary["variants"].([]any)
	g.Expect(variants).To(HaveLen(3))
	for i, want := range []map[string]any{
		{
			"name": "as-shipped", "leaked": 1.0, "rejected": 0.0, "exact": 0.0, "http_200": 1.0, "attributed": 1.0,
			"min_leaking_prompt_tokens": 512.0, "isolation": "fail", "pages_transferred": 1.0,
		},
		{
			"name": "guarded", "leaked": 0.0, "rejected": 1.0, "exact": 0.0, "http_200": 0.0, "attributed": 0.0,
			"min_leaking_prompt_tokens": 0.0, "isolation": "pass", "pages_transferred": 0.0,
		},
		{
			"name": "resized", "leaked": 0.0, "rejected": 0.0, "exact": 1.0, "http_200": 1.0, "attributed": 0.0,
			"min_leaking_prompt_tokens": 0.0, "isolation": "pass", "pages_transferred": 8.0,
		},
	} {
		got := variants[i].(map[string]any)
		for name, value := range want {
			g.Expect(got).To(HaveKeyWithValue(name, value), "%s of %s", name, want["name"])
		}
		for _, name := range []string{"garbage", "timed_out", "fault_events"} {
			g.Expect(got).To(HaveKeyWithValue(name, 0.0), "%s of %s", name, want["name"])
		}
		g.Expect(got).To(HaveKeyWithValue("responses", 1.0))
		g.Expect(got).To(HaveKey("attributed_by_content"))
		g.Expect(got["wall_seconds"]).To(BeNumerically(">", 0.0))
	}
}

// timing is every field that says how long something took, or how much memory.
var timing = regexp.MustCompile(`"(wall_seconds|core_seconds|memory_peak_bytes)": [0-9.e+-]+`)

// Goal: two runs print the same JSON but for what the machine was busy with.
func TestReproduceJSONIsStable(t *testing.T) {
	g := NewWithT(t)
	var outputs [2]string
	for i := range outputs {
		_, output, _ := stalepage("reproduce", "eight-pages", "--json")
		g.Expect(timing.FindAllString(output, -1)).To(HaveLen(2 + 3 + 1))
		outputs[i] = timing.ReplaceAllString(output, `"$1": 0`)
	}
	g.Expect(outputs[1]).To(Equal(outputs[0]))
	_, other, _ := stalepage("reproduce", "eight-pages", "--json", "--seed", "5")
	g.Expect(timing.ReplaceAllString(other, `"$1": 0`)).NotTo(Equal(outputs[0]), "the seed changes what is printed")
}

// Goal: --list names every incident with its scales and variants, and runs nothing.
func TestReproduceList(t *testing.T) {
	g := NewWithT(t)
	code, output, _ := stalepage("reproduce", "--list")
	g.Expect(code).To(Equal(exitPass))
	for _, want := range []string{
		"155: 155 responses", "eight-pages: The published walk-through", "scales: full, small = 1/256", "as-shipped  ",
		"upstream-fixed  ", "fault-early-completion-guarded  ", "(scale small only)",
	} {
		g.Expect(output).To(ContainSubstring(want))
	}
}

// Goal: each variant by name, all of them, and several at once.
func TestReproduceVariants(t *testing.T) {
	g := NewWithT(t)
	code, output, _ := stalepage("reproduce", "eight-pages", "--variant", "edge,only-scrub", "--scale", "1/256")
	g.Expect(code).To(Equal(exitPass))
	g.Expect(output).To(MatchRegexp(`(?m)^edge .*\n^only-scrub `))
	code, output, _ = stalepage("reproduce", "eight-pages", "--variant", "all", "--parallel", "1")
	g.Expect(code).To(Equal(exitPass))
	g.Expect(output).To(ContainSubstring("\nfault-dropped-rejection-flag "))
}

// Goal: what cannot be done as asked is a usage error that names what can, and nothing is printed where results go.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"reproduce 156":                           `incident "156": want one of 155, eight-pages`,
		"reproduce --scale 1/2":                   `incident 155: scale "1/2": want one of full, small, 1/256`,
		"reproduce eight-pages --variant guards":  `incident eight-pages: variant "guards": want one of as-shipped, guarded, `,
		"reproduce 155 --variant fresh-pool":      `fresh-pool`,
		"reproduce --bogus":                       "unknown flag: --bogus",
		"reproduce --seed many":                   `invalid argument "many" for "--seed"`,
		"reproduce --seed -1":                     `invalid argument "-1" for "--seed"`,
		"reproduce eight-pages --parallel 0":      "--parallel 0: want 1 or more",
		"reproduce 155 eight-pages":               "accepts at most 1 arg(s), received 2",
		"faults gremlin":                          `fault "gremlin" is not known; there are lost-registration, `,
		"faults late-write held-abort":            "accepts at most 1 arg(s), received 2",
		"check":                                   "accepts 1 arg(s), received 0",
		"replay one two":                          "accepts 1 arg(s), received 2",
		"chekc":                                   `unknown command "chekc"`,
		"reproduce eight-pages --variant all,all": `variant "all"`,
	} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			code, output, problems := stalepage(strings.Fields(line)...)
			g.Expect(code).To(Equal(exitUsage))
			g.Expect(output).To(BeEmpty())
			g.Expect(problems).To(HavePrefix("stalepage: "))
			g.Expect(problems).To(ContainSubstring(want))
			g.Expect(problems).To(HaveSuffix("see: stalepage --help\n"))
		})
	}
}

// Goal: check judges isolation: the walk-through as shipped fails and its request is named, guarded it passes.
func TestCheck(t *testing.T) {
	g := NewWithT(t)
	shipped := journalOf(t, "as-shipped")
	code, output, _ := stalepage("check", shipped)
	g.Expect(code).To(Equal(exitFail))
	g.Expect(output).To(ContainSubstring("verdict: fail"))
	g.Expect(output).To(ContainSubstring("requests: 6 (5 correct, 1 leak)"))
	g.Expect(output).To(MatchRegexp(`attribution +fail`))
	g.Expect(output).To(ContainSubstring("written by tenant 2 request 1 tokens 192-247"))
	g.Expect(output).To(ContainSubstring("made by: stalepage reproduce eight-pages --scale full --variant as-shipped --seed 20260908"))

	code, output, _ = stalepage("check", "--json", shipped)
	g.Expect(code).To(Equal(exitFail))
	var report map[string]any
	g.Expect(json.Unmarshal([]byte(output), &report)).To(Succeed())
	g.Expect(report).To(And(HaveKeyWithValue("verdict", "fail"), HaveKey("results"), HaveKey("journal"), HaveKey("requests")))

	junit := filepath.Join(t.TempDir(), "report.xml")
	code, _, _ = stalepage("check", "--junit", junit, shipped)
	g.Expect(code).To(Equal(exitFail))
	g.Expect(junit).To(BeARegularFile())

	code, output, _ = stalepage("check", journalOf(t, "guarded"))
	g.Expect(code).To(Equal(exitPass))
	g.Expect(output).To(ContainSubstring("verdict: pass"))
}

// Goal: a journal that cannot be judged is unknown, never a pass, and the message says what is wrong with it.
func TestCheckAndReplayOfDamagedJournals(t *testing.T) {
	damage := map[string]struct {
		change func(data []byte) []byte
		want   string
	}{
		"cut":      {func(data []byte) []byte { return data[:len(data)-20] }, "journal is truncated: it ends before run.closed"},
		"empty":    {func([]byte) []byte { return nil }, "journal"},
		"altered":  {func(data []byte) []byte { data[len(data)/2] ^= 4; return data }, "journal"},
		"no zstd":  {func([]byte) []byte { return []byte("{\"kind\":\"run.opened\"}\n") }, "journal"},
		"repeated": {func(data []byte) []byte { return append(data, data...) }, "journal is damaged or was altered"},
	}
	for name, d := range damage {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := journalOf(t, "guarded")
			data, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(path, d.change(data), 0o600)).To(Succeed())
			for _, command := range []string{"check", "replay"} {
				code, output, problems := stalepage(command, path)
				g.Expect(code).To(Equal(exitUnknown), command)
				g.Expect(problems).To(ContainSubstring(d.want), command)
				g.Expect(problems).To(ContainSubstring(path), command)
				g.Expect(output).NotTo(ContainSubstring("verdict: pass"))
			}
		})
	}
}

// Goal: a file that is not there, and a folder in its place, are unknown.
func TestMissingJournal(t *testing.T) {
	g := NewWithT(t)
	for _, command := range []string{"check", "replay"} {
		for _, path := range []string{filepath.Join(t.TempDir(), "missing.jsonl.zst"), t.TempDir()} {
			code, output, problems := stalepage(command, path)
			g.Expect(code).To(Equal(exitUnknown))
			g.Expect(output).To(BeEmpty())
			g.Expect(problems).To(ContainSubstring(path))
		}
	}
}

// Goal: a journal replays to the byte, whatever it says about isolation.
func TestReplay(t *testing.T) {
	g := NewWithT(t)
	path := journalOf(t, "as-shipped")
	code, output, problems := stalepage("replay", path)
	g.Expect(problems).To(BeEmpty())
	g.Expect(code).To(Equal(exitPass))
	g.Expect(output).To(MatchRegexp(`^equal: \d+ events, byte for byte\. Isolation in this run: fail\.\n$`))

	code, output, _ = stalepage("replay", "--json", path)
	g.Expect(code).To(Equal(exitPass))
	var replay map[string]any
	g.Expect(json.Unmarshal([]byte(output), &replay)).To(Succeed())
	g.Expect(replay).To(And(HaveKeyWithValue("verdict", "pass"), HaveKeyWithValue("isolation", "fail"), HaveKey("events")))
	g.Expect(replay).NotTo(HaveKey("difference"))
}

// Goal: the catalogue is listed whole, on lines that fit a terminal, and each fault's example is a plan that can be read.
func TestFaults(t *testing.T) {
	g := NewWithT(t)
	code, output, _ := stalepage("faults")
	g.Expect(code).To(Equal(exitPass))
	for line := range strings.Lines(output) {
		g.Expect(len(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", columns), line)
	}
	for _, name := range faults.Names() {
		g.Expect(output).To(MatchRegexp(`(?m)^%s +[A-Z]`, name))
		code, one, _ := stalepage("faults", name)
		g.Expect(code).To(Equal(exitPass))
		g.Expect(one).To(HavePrefix(name + "\n\n"))
		_, example, found := strings.Cut(one, "In a plan:\n\n")
		g.Expect(found).To(BeTrue())
		example, more, _ := strings.Cut(example, "\nwith more to say: ")
		_, err := faults.ParsePlan([]byte(strings.TrimSpace(example)))
		if more == "" {
			g.Expect(err).NotTo(HaveOccurred(), name)
		} else {
			g.Expect(err).To(MatchError(strings.TrimSpace(more)), name)
		}
	}
	code, output, _ = stalepage("faults", "--json")
	g.Expect(code).To(Equal(exitPass))
	var list []map[string]any
	g.Expect(json.Unmarshal([]byte(output), &list)).To(Succeed())
	g.Expect(list).To(HaveLen(len(faults.Names())))
	g.Expect(list[0]).To(And(HaveKey("name"), HaveKey("summary"), HaveKey("example")))
}

// Goal: where journals cannot be written the run is still judged, and the exit code says that it is not all well.
func TestReproduceWithoutAPlaceForJournals(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	code, _, problems := stalepage("reproduce", "eight-pages", "--out", file)
	g.Expect(code).To(Equal(exitUnknown))
	g.Expect(problems).To(HavePrefix("stalepage: --out: "))
}

// Goal: a disk that is full costs the journal alone: what was found is printed, and the exit code is unknown.
func TestReproduceOnAFullDisk(t *testing.T) {
	g := NewWithT(t)
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full on this system")
	}
	folder := t.TempDir()
	g.Expect(os.Symlink("/dev/full", filepath.Join(folder, "eight-pages-full-as-shipped.jsonl.zst.tmp"))).To(Succeed())
	code, output, _ := stalepage("reproduce", "eight-pages", "--out", folder)
	g.Expect(code).To(Equal(exitUnknown))
	g.Expect(output).To(ContainSubstring("The only leak of as-shipped"))
	g.Expect(output).To(ContainSubstring("no space left on device"))
	g.Expect(output).To(ContainSubstring("stalepage check " + filepath.Join(folder, "eight-pages-full-guarded.jsonl.zst")))
	g.Expect(output).NotTo(ContainSubstring("stalepage check "+filepath.Join(folder, "eight-pages-full-as-shipped")), "it is not whole")
}
