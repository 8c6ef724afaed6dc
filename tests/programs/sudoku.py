import numpy as np

ROWS = "530070000 600195000 098000060 800060003 400803001 700020006 060000280 000419005 000080079".split()

def candidates(grid, r, c):
    r0, c0 = r // 3 * 3, c // 3 * 3
    used = np.concatenate([grid[r], grid[:, c], grid[r0 : r0 + 3, c0 : c0 + 3].ravel()])
    return np.setdiff1d(np.arange(1, 10), used)

def solve(grid):
    while (grid == 0).any():
        best = min(np.argwhere(grid == 0), key=lambda rc: candidates(grid, *rc).size)
        options = candidates(grid, *best)
        if options.size != 1:
            for value in options:
                trial = grid.copy()
                trial[tuple(best)] = value
                if solve(trial):
                    grid[...] = trial
                    return True
            return False
        grid[tuple(best)] = options[0]
    return True

def main():
    grid = np.array([[int(c) for c in row] for row in ROWS])
    grid[:5] = np.array([[int(c) for c in row] for row in ["534678912", "672195348", "198342567", "859761423", "426853791"]])
    given = grid > 0
    solved = solve(grid)
    boxes = grid.reshape(3, 3, 3, 3).swapaxes(1, 2).reshape(9, 9)
    board = np.full((3, 3), " ")
    board[1, 1], board[[0, 2], [2, 0]] = "X", "X"
    lines = np.vstack([board, board.T, [board.diagonal()], [np.fliplr(board).diagonal()]])
    queens = np.array([0, 4, 7, 5, 2, 6, 1, 3])
    rows = np.arange(8)
    return {"solved": solved, "grid": grid, "given": given.sum(), "valid": (np.sort(boxes) == np.arange(1, 10)).all(),
            "text": ["".join(map(str, row)) for row in grid], "wins": [p for p in "XO" if (lines == p).all(axis=1).any()],
            "free": np.argwhere(board == " ").tolist(), "peaceful": len({*(rows + queens).tolist()}) == len({*(rows - queens).tolist()}) == 8,
            "magic": {*np.array([[2, 7, 6], [9, 5, 1], [4, 3, 8]]).sum(0).tolist()}}
