package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/tools/go/packages"
)

// TestConduct holds the packages of the second table to it, sources only: tests may wait and look at the clock.
func TestConduct(t *testing.T) {
	root := repository(t)
	readSources(t, root)
	for _, row := range conducts {
		for _, pattern := range row.packages {
			t.Run(strings.TrimSuffix(pattern, "/..."), func(t *testing.T) {
				for _, f := range findDeeds(t, root, "./"+pattern) {
					if slices.Contains(row.forbids, f.deed) {
						t.Errorf("%s:%d %s: %s", f.file, f.line, f.deed, row.why)
					}
				}
			})
		}
	}
}

// TestConductCanFail runs the search over a planted package and expects exactly the marked lines.
func TestConductCanFail(t *testing.T) {
	root := repository(t)
	marked := regexp.MustCompile(`// want: (.*)$`)
	var want, got []string
	for _, s := range readSources(t, root) {
		if s.name != "architecture/testdata/planted/planted.go" {
			continue
		}
		for i, line := range strings.Split(string(s.text), "\n") {
			if match := marked.FindStringSubmatch(line); match != nil {
				for what := range strings.SplitSeq(match[1], ", ") {
					want = append(want, fmt.Sprintf("line %d %s", i+1, what))
				}
			}
		}
	}
	for _, f := range findDeeds(t, root, "./architecture/testdata/planted") {
		got = append(got, fmt.Sprintf("line %d %s", f.line, f.deed))
	}
	g := NewWithT(t)
	g.Expect(want).NotTo(BeEmpty())
	g.Expect(got).To(ConsistOf(want))
}

// finding is one deed and where it is done.
type finding struct {
	file string // relative to the root
	line int
	deed deed
}

// findDeeds searches the non-test sources of the packages that pattern names, and fails when it names none.
func findDeeds(t *testing.T, root, pattern string) []finding {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, pattern)
	if err != nil {
		t.Fatalf("loading %s: %v", pattern, err)
	}
	var found []finding
	files := 0
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatalf("loading %s: %v", pattern, err)
		}
		for _, file := range p.Syntax {
			files++
			search := search{info: p.TypesInfo, report: func(at token.Pos, what deed) {
				position := p.Fset.Position(at)
				name, err := filepath.Rel(root, position.Filename)
				if err != nil {
					name = position.Filename
				}
				found = append(found, finding{file: filepath.ToSlash(name), line: position.Line, deed: what})
			}}
			ast.Walk(search, file)
		}
	}
	if files == 0 {
		t.Fatalf("%s has no source: nothing was checked", pattern)
	}
	return found
}

// search walks one file. It knows the deeds by type and by object, so neither an alias nor a named type hides them.
type search struct {
	info   *types.Info
	report func(token.Pos, deed)
}

// clocks are the functions of package time that depend on when they are called.
var clocks = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer",
	"time.NewTicker",
}

// orders are the functions that hand out a map's entries in its own order.
var orders = []string{
	"maps.All", "maps.Keys", "maps.Values", "(reflect.Value).MapKeys", "(reflect.Value).MapRange", "(*sync.Map).Range",
}

// Visit reports what node itself does.
func (s search) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.GoStmt:
		s.report(n.Pos(), startsThread)
	case *ast.SelectStmt, *ast.SendStmt:
		s.report(n.Pos(), waits)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			s.report(n.Pos(), waits)
		}
	case *ast.RangeStmt:
		s.ranges(n)
	case *ast.CallExpr:
		if strings.HasPrefix(s.callee(n), "slices.Sorted") {
			s.sorts(n)
			return nil
		}
	case *ast.Ident:
		s.uses(n)
	}
	return s
}

// sorts walks a call that sorts a sequence: sorting at once is how a map's entries get an order, so maps.Keys and its
// like are fine as an argument there, and only there.
func (s search) sorts(call *ast.CallExpr) {
	for _, argument := range call.Args {
		if sequence, ok := argument.(*ast.CallExpr); ok && slices.Contains(orders, s.callee(sequence)) {
			for _, inner := range sequence.Args {
				ast.Walk(s, inner)
			}
			continue
		}
		ast.Walk(s, argument)
	}
}

func (s search) ranges(loop *ast.RangeStmt) {
	operand := s.info.TypeOf(loop.X)
	if operand == nil {
		return
	}
	switch coreOf(operand).(type) {
	case *types.Map:
		s.report(loop.Pos(), rangesOverMap)
	case *types.Chan:
		s.report(loop.Pos(), waits)
	}
}

// coreOf is the type that a range over t works on: for a type parameter, that of its constraint.
func coreOf(t types.Type) types.Type {
	parameter, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	constraint, ok := parameter.Constraint().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	for embedded := range constraint.EmbeddedTypes() {
		if union, ok := embedded.(*types.Union); ok && union.Len() > 0 {
			return union.Term(0).Type().Underlying()
		}
		return embedded.Underlying()
	}
	return nil
}

func (s search) uses(name *ast.Ident) {
	function, ok := s.info.Uses[name].(*types.Func)
	if !ok {
		return
	}
	full := function.Origin().FullName()
	switch {
	case slices.Contains(clocks, full):
		s.report(name.Pos(), readsClock)
	case slices.Contains(orders, full):
		s.report(name.Pos(), rangesOverMap)
	}
}

// callee is the full name of the function that call calls, or "" if it calls a value.
func (s search) callee(call *ast.CallExpr) string {
	operand := ast.Unparen(call.Fun)
	if instance, ok := operand.(*ast.IndexExpr); ok {
		operand = instance.X
	}
	if selector, ok := operand.(*ast.SelectorExpr); ok {
		if function, ok := s.info.Uses[selector.Sel].(*types.Func); ok {
			return function.Origin().FullName()
		}
	}
	return ""
}
