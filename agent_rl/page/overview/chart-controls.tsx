import type { Look } from '../../runs/charts/curves.ts';

interface ChartControlsProps {
  smoothing: number;
  setSmoothing: (weight: number) => void;
  isLog: boolean;
  setLog: (isLog: boolean) => void;
  zoom: Look['zoom'];
  resetZoom: () => void;
}

/** Settings of all charts. */
export function ChartControls(props: ChartControlsProps) {
  const { smoothing, setSmoothing, isLog, setLog, zoom, resetZoom } = props;
  return (
    <div class="controls" role="group" aria-label="Charts">
      <label>
        Smoothing{' '}
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value={smoothing}
          onInput={({ currentTarget }) => setSmoothing(Number(currentTarget.value))}
        />{' '}
        <output>{smoothing.toFixed(2)}</output>
      </label>
      <label>
        <input type="checkbox" checked={isLog} onChange={() => setLog(!isLog)} /> Log scale
      </label>
      {zoom === null ? (
        <span class="hint">Drag across a chart to zoom in</span>
      ) : (
        <button type="button" onClick={resetZoom}>
          Iterations {Math.ceil(zoom[0])} to {Math.floor(zoom[1])}: show all
        </button>
      )}
    </div>
  );
}
